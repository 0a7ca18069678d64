/* One dot product of a unit of your own, from C: own_unit unit.toml
 * Build it with: cc own_unit.c -I golden/native/include -lmmau */
#include <stdio.h>

#include "mmau.h"

int main(int argc, char **argv) {
    mmau_unit unit;
    char why[512];
    if (argc != 2 || mmau_unit_load(argv[1], 0, &unit, why, sizeof why) != MMAU_OK) {
        fprintf(stderr, "%s\n", argc == 2 ? why : "own_unit: give a unit.toml");
        return 2;
    }
    /* fp16: 1, 2, 3 and 4, times 0.5 each; c is 10 in fp32. */
    uint16_t a[1024] = {0x3C00, 0x4000, 0x4200, 0x4400}, b[1024] = {0x3800, 0x3800, 0x3800, 0x3800};
    uint32_t c = 0x41200000, d;
    const int status = mmau_dot(&unit.parameters, a, b, &c, NULL, NULL, &d);
    if (status != MMAU_OK) {
        fprintf(stderr, "%s\n", mmau_message(status));
        return 1;
    }
    printf("d = %08x\n", d);
    return 0;
}
