/* Files that a sort begins again with: the caller gets each record once, and standard output none. */
#include <gristmill.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void make(size_t before, const char *begin, size_t more, const char *end)
{
    FILE *file = fopen("in.csv", "w");
    size_t at;

    CHECK(file != NULL && fputs("a,b\n", file) >= 0);
    for (at = 0; at < before; ++at)
        CHECK(fprintf(file, "%07u,b\n", (unsigned)(before - at)) > 0);
    CHECK(fputs(begin, file) >= 0);
    for (at = 0; at < more; ++at)
        CHECK(fputc('x', file) != EOF);
    CHECK(fputs(end, file) >= 0 && fclose(file) == 0);
}

static void each_record_comes_once(size_t before, size_t more)
{
    const char *const inputs[] = {"in.csv"};
    const uint8_t *record;
    size_t length, records = 0, bytes = 0;
    gristmill_report report;
    gristmill_sorter *sorter = NULL;
    gristmill_status status;

    CHECK(gristmill_new("csv", &sorter) == GRISTMILL_OK);
    CHECK(gristmill_set_memory(sorter, (uint64_t)1 << 30) == GRISTMILL_OK);
    CHECK(gristmill_read_files(sorter, inputs, 1) == GRISTMILL_OK);
    while ((status = gristmill_next(sorter, &record, &length)) == GRISTMILL_OK) {
        ++records;
        bytes += length;
    }
    CHECK(status == GRISTMILL_END);
    CHECK(records == before + 2 && bytes == 4 + 10 * before + more + 7);
    CHECK(gristmill_get_report(sorter, &report) == GRISTMILL_OK);
    CHECK(report.records == before + 1);
    gristmill_free(sorter);
}

int main(void)
{
    const size_t places[] = {0, 1, 30000, 500000};
    size_t at;

    for (at = 0; at < 4; ++at) {
        make(places[at], "9,\"", 1, "\ny\"\n");
        each_record_comes_once(places[at], 1);
        make(places[at], "9,\"", 3000000, "\ny\"\n");
        each_record_comes_once(places[at], 3000000);
        make(places[at], "9,yyyy", 3000000, "\n");
        each_record_comes_once(places[at], 3000000);
    }
    puts("passed");
    return 0;
}
