// A GPU's driver on a machine without one, NVIDIA's and AMD's by their names: a binary is the text of a kernel, and a launch is
// handed to a function of the tests, if it is what a driver takes.
#include <stdlib.h>
#include <string.h>

typedef int (*Run)(const char* image, const char* entry, unsigned blocks, unsigned threads, void** arguments);
struct Kernel {
    const char* image;
    char entry[64];
};

static Run run;
static const void* current;

void stand_in_runs(Run given) { run = given; }

int cuInit(unsigned flags) { return flags != 0; }
int cuDeviceGet(int* device, int number) { return *device = number, 0; }
int cuDevicePrimaryCtxRetain(void** context, int device) { return *context = (void*)(device + 1L), 0; }
int cuCtxSetCurrent(const void* context) { return current = context, 0; }

int hipModuleLoadData(void** module, const char* image) { return *module = strdup(image), 0; }
int cuModuleLoadData(void** module, const char* image) { return current ? hipModuleLoadData(module, image) : 201; }

int hipModuleGetFunction(struct Kernel** kernel, const char* module, const char* name) {
    if (!strstr(module, name) || strlen(name) > 63) return 500;
    *kernel = malloc(sizeof **kernel);
    (*kernel)->image = module;
    strcpy((*kernel)->entry, name);
    return 0;
}
int cuModuleGetFunction(struct Kernel** kernel, const char* module, const char* name) {
    return hipModuleGetFunction(kernel, module, name);
}

int hipModuleLaunchKernel(struct Kernel* kernel, unsigned x, unsigned y, unsigned z, unsigned i, unsigned j, unsigned k,
                          unsigned shared, void* stream, void** arguments, void** extra) {
    if (!x || y != 1 || z != 1 || j != 1 || k != 1 || shared || stream != (void*)7L || extra) return 1;
    return run(kernel->image, kernel->entry, x, i, arguments);
}
int cuLaunchKernel(struct Kernel* kernel, unsigned x, unsigned y, unsigned z, unsigned i, unsigned j, unsigned k, unsigned shared,
                   void* stream, void** arguments, void** extra) {
    if (!current) return 201;
    return hipModuleLaunchKernel(kernel, x, y, z, i, j, k, shared, stream, arguments, extra);
}
