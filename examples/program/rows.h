/* Rows of operands in, codes of d out, as `--program` of mmau sends and takes them: text or binary, by the header line.
 *
 * Answers are flushed before the program waits for more input: one at a time in a dialogue, many at a time in a stream.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint8_t input[1 << 16];
static size_t input_next, input_end;

/* The next byte; -1 at the end of the input. */
static int next_byte(void) {
    if (input_next == input_end) {
        fflush(stdout);
        ssize_t got = read(0, input, sizeof input);
        if (got <= 0) return -1;
        input_next = 0, input_end = got;
    }
    return input[input_next++];
}

struct rows {
    int K, binary;
    char header[256];
};

/* The header line, the first of the input: `# a=bf16 b=bf16 c=fp32 d=fp32 K=4 form=text`. */
static struct rows read_header(void) {
    struct rows rows = {0, 0, ""};
    size_t length = 0;
    for (int byte = next_byte(); byte >= 0 && byte != '\n' && length + 1 < sizeof rows.header; byte = next_byte())
        rows.header[length++] = byte;
    const char *K = strstr(rows.header, " K=");
    if (rows.header[0] != '#' || K == NULL) {
        fprintf(stderr, "the first line must be a header that says K, got %s\n", rows.header);
        exit(2);
    }
    rows.K = atoi(K + 3);
    rows.binary = strstr(rows.header, " form=binary") != NULL;
    return rows;
}

static int hexadecimal_digit(int byte) {
    return byte >= '0' && byte <= '9' ? byte - '0' : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* One code of so many bytes, lowest first in the binary form; returns 0 at the end of the input. */
static int read_code(const struct rows *rows, int bytes, uint64_t *code) {
    *code = 0;
    if (rows->binary) {
        for (int place = 0; place < bytes; place++) {
            int byte = next_byte();
            if (byte < 0) return 0;
            *code |= (uint64_t)byte << 8 * place;
        }
        return 1;
    }
    int byte = next_byte();
    while (byte == ' ' || byte == '\n') byte = next_byte();
    if (byte < 0) return 0;
    for (int digit; (digit = hexadecimal_digit(byte)) >= 0; byte = next_byte()) *code = *code << 4 | digit;
    return 1;
}

/* The answer to a row. */
static void write_code(const struct rows *rows, int bytes, uint64_t code) {
    if (rows->binary)
        fwrite(&code, bytes, 1, stdout); /* the lowest byte comes first on the machines that this runs on */
    else
        printf("%0*llx\n", 2 * bytes, (unsigned long long)code);
}
