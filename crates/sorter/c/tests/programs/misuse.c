/* NULL, calls in the wrong order, calls while another one runs, keys that fail: each is answered. */
#include <gristmill.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define BYTES(text) ((const uint8_t *)(text))

static gristmill_sorter *make(const char *format)
{
    gristmill_sorter *sorter = NULL;

    CHECK(gristmill_new(format, &sorter) == GRISTMILL_OK && sorter != NULL);
    CHECK(strcmp(gristmill_error(sorter), "") == 0);
    return sorter;
}

static int says(gristmill_sorter *sorter, const char *text)
{
    return strstr(gristmill_error(sorter), text) != NULL;
}

static void null_is_no_sorter(void)
{
    const char *const inputs[] = {"in"};
    const uint8_t *bytes;
    const size_t *lengths;
    size_t length;
    uint64_t number;
    gristmill_progress progress;
    gristmill_report report;
    gristmill_sorter *sorter = NULL;
    const gristmill_status wrong = GRISTMILL_ARGUMENT;

    CHECK(gristmill_new("lines", NULL) == wrong);
    CHECK(gristmill_new(NULL, &sorter) == wrong && sorter == NULL);
    CHECK(gristmill_new("\xff", &sorter) == wrong && sorter == NULL);
    gristmill_free(NULL);
    CHECK(strlen(gristmill_error(NULL)) > 0);
    CHECK(gristmill_add_key(NULL, "1") == wrong);
    CHECK(gristmill_set_key_function(NULL, NULL, NULL) == wrong);
    CHECK(gristmill_set_separator(NULL, ',') == wrong);
    CHECK(gristmill_set_delimiter(NULL, 0) == wrong);
    CHECK(gristmill_set_without_header(NULL) == wrong);
    CHECK(gristmill_add_header(NULL, "1") == wrong);
    CHECK(gristmill_add_null(NULL, "NA") == wrong);
    CHECK(gristmill_set_record_start(NULL, "a") == wrong);
    CHECK(gristmill_set_record_lines(NULL, 2) == wrong);
    CHECK(gristmill_set_shuffle(NULL, 2) == wrong);
    CHECK(gristmill_set_short_rows(NULL) == wrong);
    CHECK(gristmill_set_stable(NULL) == wrong);
    CHECK(gristmill_set_unique(NULL) == wrong);
    CHECK(gristmill_add_sum(NULL, "2") == wrong);
    CHECK(gristmill_set_bad_records(NULL, "bad") == wrong);
    CHECK(gristmill_set_top(NULL, 1) == wrong);
    CHECK(gristmill_set_memory(NULL, 1) == wrong);
    CHECK(gristmill_set_threads(NULL, 1) == wrong);
    CHECK(gristmill_add_temporary(NULL, "/tmp") == wrong);
    CHECK(gristmill_set_stripe(NULL, 1) == wrong);
    CHECK(gristmill_set_longest(NULL, 1) == wrong);
    CHECK(gristmill_start(NULL) == wrong);
    CHECK(gristmill_push(NULL, BYTES("a"), 1) == wrong);
    CHECK(gristmill_push_many(NULL, BYTES("a"), &length, 0, NULL) == wrong);
    CHECK(gristmill_push_bytes(NULL, BYTES("a"), 1) == wrong);
    CHECK(gristmill_finish(NULL) == wrong);
    CHECK(gristmill_next(NULL, &bytes, &length) == wrong);
    CHECK(gristmill_next_many(NULL, &bytes, &lengths, &length) == wrong);
    CHECK(gristmill_write_file(NULL, "out", &report) == wrong);
    CHECK(gristmill_get_report(NULL, &report) == wrong);
    CHECK(gristmill_sort_files(NULL, inputs, 1, "out", &report) == wrong);
    CHECK(gristmill_merge_files(NULL, inputs, 1, "out", &report) == wrong);
    CHECK(gristmill_read_files(NULL, inputs, 1) == wrong);
    CHECK(gristmill_check_file(NULL, "in", &number, &bytes, &length) == wrong);
    CHECK(gristmill_stop(NULL) == wrong);
    CHECK(gristmill_get_progress(NULL, &progress) == wrong);
    CHECK(gristmill_key_u64(NULL, 1, 0) == wrong);
    CHECK(gristmill_key_i64(NULL, 1, 0) == wrong);
    CHECK(gristmill_key_f64(NULL, 1, 0) == wrong);
    CHECK(gristmill_key_bytes(NULL, BYTES("a"), 1, 0) == wrong);
    CHECK(gristmill_key_raw(NULL, BYTES("a"), 1) == wrong);
    CHECK(strcmp(gristmill_status_text(GRISTMILL_OK), "done") == 0);
    CHECK(strlen(gristmill_status_text(-1)) > 0 && strlen(gristmill_status_text(1000)) > 0);
}

static void null_is_no_argument(void)
{
    const char *const inputs[] = {NULL};
    const uint8_t *bytes;
    size_t length = 1, lengths[] = {(size_t)-1, 1};
    gristmill_sorter *sorter = make("fixed:1");
    const gristmill_status wrong = GRISTMILL_ARGUMENT;

    CHECK(gristmill_add_key(sorter, NULL) == wrong && says(sorter, "key is NULL"));
    CHECK(gristmill_set_key_function(sorter, NULL, NULL) == wrong);
    CHECK(gristmill_add_temporary(sorter, NULL) == wrong);
    CHECK(gristmill_set_threads(sorter, 0) == wrong && says(sorter, "at least one"));
    CHECK(gristmill_set_stripe(sorter, 0) == wrong && says(sorter, "one block"));
    CHECK(gristmill_get_progress(sorter, NULL) == wrong);
    CHECK(gristmill_sort_files(sorter, inputs, 1, "out", NULL) == wrong);
    CHECK(gristmill_sort_files(sorter, NULL, 1, "out", NULL) == wrong);
    CHECK(gristmill_sort_files(sorter, inputs, 0, NULL, NULL) == wrong);
    CHECK(gristmill_merge_files(sorter, NULL, (size_t)-1, "out", NULL) == wrong);
    CHECK(gristmill_read_files(sorter, inputs, 1) == wrong);
    CHECK(gristmill_check_file(sorter, NULL, NULL, NULL, NULL) == wrong);
    /* It can still be used. */
    CHECK(gristmill_start(sorter) == GRISTMILL_OK);
    CHECK(gristmill_push(sorter, NULL, 1) == wrong);
    CHECK(gristmill_push(sorter, BYTES("b"), (size_t)-1) == wrong);
    CHECK(gristmill_push_many(sorter, BYTES("b"), NULL, 1, NULL) == wrong);
    CHECK(gristmill_push_many(sorter, NULL, &length, 1, NULL) == wrong);
    CHECK(gristmill_push_many(sorter, BYTES("b"), lengths, 2, NULL) == wrong);
    CHECK(gristmill_push_bytes(sorter, NULL, 1) == wrong);
    CHECK(gristmill_push_bytes(sorter, NULL, 0) == GRISTMILL_OK);
    CHECK(gristmill_push_many(sorter, NULL, NULL, 0, NULL) == GRISTMILL_OK);
    CHECK(gristmill_push(sorter, BYTES("b"), 1) == GRISTMILL_OK);
    CHECK(gristmill_push_bytes(sorter, BYTES("ca"), 2) == GRISTMILL_OK);
    CHECK(gristmill_finish(sorter) == GRISTMILL_OK);
    CHECK(gristmill_next(sorter, NULL, &length) == wrong);
    CHECK(gristmill_next(sorter, &bytes, NULL) == wrong);
    CHECK(gristmill_next_many(sorter, NULL, NULL, NULL) == wrong);
    CHECK(gristmill_write_file(sorter, NULL, NULL) == wrong);
    CHECK(gristmill_get_report(sorter, NULL) == wrong);
    CHECK(gristmill_next(sorter, &bytes, &length) == GRISTMILL_OK);
    CHECK(length == 1 && *bytes == 'a');
    gristmill_free(sorter);
}

static void each_call_has_its_time(void)
{
    const uint8_t *bytes;
    const size_t *lengths;
    size_t length, count, two[] = {2, 3, 2}, done = 9;
    gristmill_report report;
    gristmill_sorter *sorter = make("lines");
    const gristmill_status late = GRISTMILL_ORDER;

    CHECK(gristmill_push(sorter, BYTES("b"), 1) == late && says(sorter, "gristmill_start"));
    CHECK(gristmill_finish(sorter) == late);
    CHECK(gristmill_next(sorter, &bytes, &length) == late && says(sorter, "gristmill_finish"));
    CHECK(gristmill_get_report(sorter, &report) == late);
    CHECK(gristmill_start(sorter) == GRISTMILL_OK);
    CHECK(gristmill_start(sorter) == late);
    CHECK(gristmill_set_memory(sorter, 1 << 30) == late);
    CHECK(gristmill_read_files(sorter, NULL, 0) == late);
    CHECK(gristmill_next(sorter, &bytes, &length) == late);
    CHECK(gristmill_push(sorter, BYTES("a\nb"), 3) == GRISTMILL_RECORD);
    CHECK(says(sorter, "record 1: it has bytes after its delimiter"));
    CHECK(gristmill_push_many(sorter, BYTES("b\nx\nyc\n"), two, 3, &done) == GRISTMILL_RECORD);
    CHECK(done == 1);
    CHECK(gristmill_push(sorter, BYTES("a"), 1) == GRISTMILL_OK);
    CHECK(gristmill_finish(sorter) == GRISTMILL_OK);
    CHECK(gristmill_finish(sorter) == late);
    CHECK(gristmill_push(sorter, BYTES("c"), 1) == late);
    CHECK(gristmill_next_many(sorter, &bytes, &lengths, &count) == GRISTMILL_OK);
    CHECK(count == 2 && lengths[0] == 2 && memcmp(bytes, "a\nb\n", 4) == 0);
    CHECK(gristmill_next_many(sorter, &bytes, &lengths, &count) == GRISTMILL_END && count == 0);
    CHECK(gristmill_next(sorter, &bytes, &length) == GRISTMILL_END && length == 0);
    CHECK(gristmill_next(sorter, &bytes, &length) == GRISTMILL_END);
    CHECK(gristmill_get_report(sorter, &report) == GRISTMILL_OK && report.records == 2);
    CHECK(gristmill_write_file(sorter, "rest", &report) == GRISTMILL_OK);
    CHECK(gristmill_write_file(sorter, "rest", &report) == late);
    CHECK(gristmill_next(sorter, &bytes, &length) == late && says(sorter, "make a new sorter"));
    gristmill_free(sorter);
}

static void options_are_checked(void)
{
    gristmill_sorter *sorter = make("fixed:10");

    CHECK(gristmill_add_key(sorter, "8+4") == GRISTMILL_OK);
    CHECK(gristmill_start(sorter) == GRISTMILL_OPTIONS);
    CHECK(gristmill_push(sorter, BYTES("0123456789"), 10) == GRISTMILL_OPTIONS);
    gristmill_free(sorter);
    sorter = make("no such format");
    CHECK(gristmill_start(sorter) == GRISTMILL_OPTIONS);
    gristmill_free(sorter);
    sorter = make("lines");
    CHECK(gristmill_set_top(sorter, 0) == GRISTMILL_OK);
    CHECK(gristmill_start(sorter) == GRISTMILL_OPTIONS && says(sorter, "at least one record"));
    gristmill_free(sorter);
}

static gristmill_status first(gristmill_sorter *sorter, char expected)
{
    const uint8_t *bytes;
    size_t length;
    gristmill_status status;

    CHECK(gristmill_start(sorter) == GRISTMILL_OK);
    CHECK(gristmill_push_bytes(sorter, BYTES("b,2\na,10\nc,2\na,10\n"), 18) == GRISTMILL_OK);
    CHECK(gristmill_finish(sorter) == GRISTMILL_OK);
    status = gristmill_next(sorter, &bytes, &length);
    CHECK(status != GRISTMILL_OK || *bytes == (uint8_t)expected);
    gristmill_free(sorter);
    return status;
}

static void options_change_the_result(void)
{
    gristmill_sorter *sorter = make("lines");

    CHECK(gristmill_set_separator(sorter, ',') == GRISTMILL_OK);
    CHECK(gristmill_add_key(sorter, "2,2nr") == GRISTMILL_OK);
    CHECK(gristmill_set_unique(sorter) == GRISTMILL_OK);
    CHECK(gristmill_set_top(sorter, 1) == GRISTMILL_OK);
    CHECK(gristmill_set_memory(sorter, 64 << 20) == GRISTMILL_OK);
    CHECK(gristmill_set_threads(sorter, 2) == GRISTMILL_OK);
    CHECK(gristmill_add_temporary(sorter, ".") == GRISTMILL_OK);
    CHECK(gristmill_set_longest(sorter, 1000) == GRISTMILL_OK);
    CHECK(first(sorter, 'a') == GRISTMILL_OK);
    sorter = make("lines");
    CHECK(gristmill_set_separator(sorter, ',') == GRISTMILL_OK);
    CHECK(gristmill_add_key(sorter, "2,2n") == GRISTMILL_OK);
    CHECK(gristmill_set_stable(sorter) == GRISTMILL_OK);
    CHECK(first(sorter, 'b') == GRISTMILL_OK);
    sorter = make("lines");
    CHECK(gristmill_set_delimiter(sorter, ',') == GRISTMILL_OK);
    CHECK(first(sorter, '1') == GRISTMILL_OK);
    sorter = make("csv");
    CHECK(gristmill_set_without_header(sorter) == GRISTMILL_OK);
    CHECK(gristmill_add_key(sorter, "#2:num") == GRISTMILL_OK);
    CHECK(first(sorter, 'b') == GRISTMILL_OK);
    sorter = make("lines");
    CHECK(gristmill_set_memory(sorter, 1000) == GRISTMILL_OK);
    CHECK(first(sorter, 0) == GRISTMILL_MEMORY);
}

static void lines_with_mistakes_are_set_aside(void)
{
    gristmill_sorter *sorter = make("lines");
    gristmill_report report;

    CHECK(gristmill_set_bad_records(sorter, "bad.csv") == GRISTMILL_OK);
    CHECK(gristmill_start(sorter) == GRISTMILL_OPTIONS && says(sorter, "bad_records sets rows aside"));
    gristmill_free(sorter);
    sorter = make("lines");
    CHECK(gristmill_add_key(sorter, "2:num") == GRISTMILL_OK);
    CHECK(gristmill_set_bad_records(sorter, "bad.csv") == GRISTMILL_OK);
    CHECK(gristmill_start(sorter) == GRISTMILL_OK);
    CHECK(gristmill_push_bytes(sorter, BYTES("b 2\na x\nc 1\n"), 12) == GRISTMILL_OK);
    CHECK(gristmill_finish(sorter) == GRISTMILL_OK);
    CHECK(gristmill_write_file(sorter, "good", &report) == GRISTMILL_OK);
    CHECK(report.records == 2 && report.set_aside == 1);
    gristmill_free(sorter);
}

static void numbers_are_added_up(void)
{
    gristmill_sorter *sorter = make("lines");
    const uint8_t *bytes;
    size_t length;

    CHECK(gristmill_set_separator(sorter, ',') == GRISTMILL_OK);
    CHECK(gristmill_add_key(sorter, "1,1") == GRISTMILL_OK);
    CHECK(gristmill_set_unique(sorter) == GRISTMILL_OK);
    CHECK(gristmill_add_sum(sorter, "2") == GRISTMILL_OK);
    CHECK(gristmill_start(sorter) == GRISTMILL_OK);
    CHECK(gristmill_push_bytes(sorter, BYTES("b,2\na,10\nc,2\na,10\n"), 18) == GRISTMILL_OK);
    CHECK(gristmill_finish(sorter) == GRISTMILL_OK);
    CHECK(gristmill_next(sorter, &bytes, &length) == GRISTMILL_OK);
    CHECK(length == 5 && memcmp(bytes, "a,20\n", 5) == 0);
    gristmill_free(sorter);
}

static gristmill_sorter *used;

/* Fails for "bad", and uses its own sorter. */
static int key_of(void *user, const uint8_t *record, size_t length, gristmill_key *key)
{
    ++*(int *)user;
    CHECK(gristmill_push(used, record, length) == GRISTMILL_BUSY);
    CHECK(strlen(gristmill_error(used)) > 0);
    CHECK(gristmill_key_bytes(key, NULL, 1, 0) == GRISTMILL_ARGUMENT);
    CHECK(gristmill_key_u64(key, length, 1) == GRISTMILL_OK);
    CHECK(gristmill_key_f64(key, -1.5, 0) == GRISTMILL_OK);
    CHECK(gristmill_key_raw(key, record, 1) == GRISTMILL_OK);
    return length == 3 && memcmp(record, "bad", 3) == 0 ? 7 : 0;
}

static void keys_may_fail(void)
{
    const char *const inputs[] = {"bad.txt"};
    const uint8_t *bytes;
    size_t length;
    int calls = 0;
    FILE *file = fopen("bad.txt", "w");

    CHECK(file != NULL && fputs("good\nbad\n", file) >= 0 && fclose(file) == 0);
    used = make("lines");
    CHECK(gristmill_set_key_function(used, key_of, &calls) == GRISTMILL_OK);
    CHECK(gristmill_start(used) == GRISTMILL_OK);
    CHECK(gristmill_push(used, BYTES("a"), 1) == GRISTMILL_OK);
    CHECK(gristmill_push(used, BYTES("bad"), 3) == GRISTMILL_KEY);
    CHECK(says(used, "the key function returned 7"));
    CHECK(gristmill_push(used, BYTES("long"), 4) == GRISTMILL_OK);
    CHECK(gristmill_push(used, BYTES("bone"), 4) == GRISTMILL_OK);
    CHECK(gristmill_finish(used) == GRISTMILL_OK && calls == 4);
    CHECK(gristmill_next(used, &bytes, &length) == GRISTMILL_OK);
    CHECK(length == 5 && memcmp(bytes, "bone\n", 5) == 0);
    CHECK(gristmill_next(used, &bytes, &length) == GRISTMILL_OK && *bytes == 'l');
    CHECK(gristmill_next(used, &bytes, &length) == GRISTMILL_OK && *bytes == 'a');
    CHECK(gristmill_next(used, &bytes, &length) == GRISTMILL_END);
    gristmill_free(used);
    used = make("lines");
    CHECK(gristmill_set_key_function(used, key_of, &calls) == GRISTMILL_OK);
    CHECK(gristmill_sort_files(used, inputs, 1, "bad.out", NULL) == GRISTMILL_KEY);
    CHECK(fopen("bad.out", "r") == NULL);
    CHECK(gristmill_next(used, &bytes, &length) == GRISTMILL_KEY);
    gristmill_free(used);
}

int main(void)
{
    null_is_no_sorter();
    null_is_no_argument();
    each_call_has_its_time();
    options_are_checked();
    options_change_the_result();
    lines_with_mistakes_are_set_aside();
    numbers_are_added_up();
    keys_may_fail();
    puts("passed");
    return 0;
}
