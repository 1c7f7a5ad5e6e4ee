/* Numbers of every size in every call: each is taken, or refused with a text. */
#include <gristmill.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define COUNT 11

static const uint64_t numbers[COUNT] = {
    0,
    1,
    255,
    (uint64_t)1 << 31,
    (uint64_t)1 << 32,
    (uint64_t)1 << 40,
    (uint64_t)1 << 46,
    (uint64_t)1 << 62,
    INT64_MAX,
    UINT64_MAX - 4096,
    UINT64_MAX,
};

static gristmill_sorter *make(const char *format)
{
    gristmill_sorter *sorter = NULL;

    CHECK(gristmill_new(format, &sorter) == GRISTMILL_OK);
    return sorter;
}

/* Sorts two lines, pushed and from a file. */
static void sorts_or_refuses(uint64_t memory, uint64_t longest, uint64_t top, uint64_t threads)
{
    const char *const inputs[] = {"in.txt"};
    const uint8_t *bytes;
    size_t length;
    int way;

    for (way = 0; way < 3; ++way) {
        gristmill_sorter *sorter = make("lines");
        gristmill_status status;

        CHECK(gristmill_set_memory(sorter, memory) == GRISTMILL_OK);
        CHECK(gristmill_set_longest(sorter, (size_t)longest) == GRISTMILL_OK);
        CHECK(gristmill_set_top(sorter, top) == GRISTMILL_OK);
        status = gristmill_set_threads(sorter, (size_t)threads);
        CHECK(status == (threads == 0 ? GRISTMILL_ARGUMENT : GRISTMILL_OK));
        if (way == 0) {
            status = gristmill_start(sorter);
            if (status == GRISTMILL_OK)
                status = gristmill_push_bytes(sorter, (const uint8_t *)"b\na\n", 4);
            if (status == GRISTMILL_OK)
                status = gristmill_finish(sorter);
        } else if (way == 1) {
            status = gristmill_read_files(sorter, inputs, 1);
        } else {
            status = gristmill_sort_files(sorter, inputs, 1, "out.txt", NULL);
        }
        if (status == GRISTMILL_OK && way < 2) {
            status = gristmill_next(sorter, &bytes, &length);
            CHECK(status != GRISTMILL_OK || (length == 2 && bytes[0] == 'a'));
        }
        if (status != GRISTMILL_OK) {
            CHECK(status == GRISTMILL_MEMORY || status == GRISTMILL_OPTIONS);
            CHECK(strchr(gristmill_error(sorter), ' ') != NULL);
        }
        gristmill_free(sorter);
    }
}

static void options_have_any_number(void)
{
    int first, second;

    for (first = 0; first < COUNT; ++first) {
        for (second = 0; second < COUNT; ++second)
            sorts_or_refuses(numbers[first], numbers[second], 1, 1);
        sorts_or_refuses(64 << 20, 100, numbers[first], 2);
        sorts_or_refuses(64 << 20, 100, 2, numbers[first]);
        sorts_or_refuses(numbers[first], 1, numbers[first], numbers[first]);
    }
}

static void lengths_are_checked(void)
{
    int at, other;

    for (at = 0; at < COUNT; ++at) {
        const size_t number = (size_t)numbers[at];
        gristmill_sorter *sorter = make("lines");
        size_t pushed = 7;

        CHECK(gristmill_start(sorter) == GRISTMILL_OK);
        /* No program has so many bytes. */
        if (number > INT64_MAX) {
            CHECK(gristmill_push(sorter, (const uint8_t *)"a", number) == GRISTMILL_ARGUMENT);
            CHECK(gristmill_push_bytes(sorter, (const uint8_t *)"a", number) ==
                  GRISTMILL_ARGUMENT);
            CHECK(gristmill_push_many(sorter, (const uint8_t *)"a", &number, 1, &pushed) ==
                  GRISTMILL_ARGUMENT);
            CHECK(pushed == 0);
        }
        if (number > INT64_MAX / sizeof number) {
            CHECK(gristmill_push_many(sorter, (const uint8_t *)"a", &number, number, &pushed) ==
                  GRISTMILL_ARGUMENT);
        }
        for (other = 0; other < COUNT; ++other) {
            const size_t two[] = {number, (size_t)numbers[other]};

            if (two[0] + two[1] < two[0])
                CHECK(gristmill_push_many(sorter, (const uint8_t *)"a", two, 2, NULL) ==
                      GRISTMILL_ARGUMENT);
        }
        CHECK(gristmill_push(sorter, (const uint8_t *)"a", 1) == GRISTMILL_OK);
        gristmill_free(sorter);
        CHECK(strlen(gristmill_status_text((int)number)) > 0);
    }
}

static void files_have_any_count(void)
{
    const char *const inputs[] = {"in.txt"};
    int at;

    for (at = 0; at < COUNT; ++at) {
        const size_t number = (size_t)numbers[at];
        gristmill_sorter *sorter = make("lines");

        if (number > INT64_MAX / sizeof inputs[0]) {
            CHECK(gristmill_sort_files(sorter, inputs, number, "out.txt", NULL) ==
                  GRISTMILL_ARGUMENT);
            CHECK(gristmill_merge_files(sorter, inputs, number, "out.txt", NULL) ==
                  GRISTMILL_ARGUMENT);
            CHECK(gristmill_read_files(sorter, inputs, number) == GRISTMILL_ARGUMENT);
        }
        gristmill_free(sorter);
    }
}

static int key_of(void *user, const uint8_t *record, size_t length, gristmill_key *key)
{
    int at;

    (void)user;
    for (at = 0; at < COUNT; ++at) {
        CHECK(gristmill_key_u64(key, numbers[at], at & 1) == GRISTMILL_OK);
        CHECK(gristmill_key_i64(key, (int64_t)numbers[at], at & 1) == GRISTMILL_OK);
        CHECK(gristmill_key_f64(key, (double)numbers[at] / 0.5, at & 1) == GRISTMILL_OK);
        if (numbers[at] > INT64_MAX) {
            CHECK(gristmill_key_bytes(key, record, (size_t)numbers[at], 0) == GRISTMILL_ARGUMENT);
            CHECK(gristmill_key_raw(key, record, (size_t)numbers[at]) == GRISTMILL_ARGUMENT);
        }
    }
    return gristmill_key_bytes(key, record, length, 1) == GRISTMILL_OK ? 0 : 1;
}

static void keys_have_any_number(void)
{
    gristmill_sorter *sorter = make("lines");
    const uint8_t *bytes;
    size_t length;

    CHECK(gristmill_set_key_function(sorter, key_of, NULL) == GRISTMILL_OK);
    CHECK(gristmill_start(sorter) == GRISTMILL_OK);
    CHECK(gristmill_push_bytes(sorter, (const uint8_t *)"a\nb\n", 4) == GRISTMILL_OK);
    CHECK(gristmill_finish(sorter) == GRISTMILL_OK);
    CHECK(gristmill_next(sorter, &bytes, &length) == GRISTMILL_OK && bytes[0] == 'b');
    gristmill_free(sorter);
}

int main(void)
{
    FILE *file = fopen("in.txt", "w");

    CHECK(file != NULL && fputs("b\na\n", file) >= 0 && fclose(file) == 0);
    options_have_any_number();
    lengths_are_checked();
    files_have_any_count();
    keys_have_any_number();
    puts("passed");
    return 0;
}
