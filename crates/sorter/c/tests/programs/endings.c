/* A sort that is stopped, freed or forked in the middle leaves no file and no output. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <gristmill.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* More than twice the memory. */
#define RECORDS 200000u
#define MEMORY (8 << 20)

static int files(void)
{
    DIR *directory = opendir("spill");
    int count = 0;

    CHECK(directory != NULL);
    while (readdir(directory) != NULL)
        ++count;
    closedir(directory);
    return count - 2;
}

static gristmill_sorter *begin(void)
{
    gristmill_sorter *sorter = NULL;

    CHECK(gristmill_new("fixed:100", &sorter) == GRISTMILL_OK);
    CHECK(gristmill_add_key(sorter, "0+4:u32le") == GRISTMILL_OK);
    CHECK(gristmill_set_memory(sorter, MEMORY) == GRISTMILL_OK);
    CHECK(gristmill_add_temporary(sorter, "spill") == GRISTMILL_OK);
    CHECK(gristmill_start(sorter) == GRISTMILL_OK);
    return sorter;
}

static gristmill_status push(gristmill_sorter *sorter, unsigned records)
{
    uint8_t record[100];
    gristmill_status status = GRISTMILL_OK;
    unsigned at, number = 1;

    memset(record, '.', sizeof record);
    for (at = 0; at < records && status == GRISTMILL_OK; ++at) {
        number = number * 1664525u + 1013904223u;
        memcpy(record, &number, sizeof number);
        status = gristmill_push(sorter, record, sizeof record);
    }
    return status;
}

static void all_come_back(void)
{
    gristmill_sorter *sorter = begin();
    const uint8_t *records;
    const size_t *lengths;
    size_t count, all = 0, at;
    unsigned last = 0, number;
    gristmill_report report;
    gristmill_status status;

    CHECK(push(sorter, RECORDS) == GRISTMILL_OK && files() > 0);
    CHECK(gristmill_finish(sorter) == GRISTMILL_OK);
    while ((status = gristmill_next_many(sorter, &records, &lengths, &count)) == GRISTMILL_OK) {
        for (at = 0; at < count; ++at, ++all, records += 100) {
            memcpy(&number, records, sizeof number);
            CHECK(lengths[at] == 100 && number >= last);
            last = number;
        }
    }
    CHECK(status == GRISTMILL_END && all == RECORDS && files() == 0);
    CHECK(gristmill_get_report(sorter, &report) == GRISTMILL_OK && report.passes > 1);
    gristmill_free(sorter);
}

static void a_sorter_is_freed_at_any_time(void)
{
    gristmill_sorter *sorter = begin();
    const uint8_t *record;
    size_t length;

    CHECK(push(sorter, RECORDS) == GRISTMILL_OK && files() > 0);
    gristmill_free(sorter);
    CHECK(files() == 0);
    sorter = begin();
    CHECK(push(sorter, RECORDS) == GRISTMILL_OK);
    CHECK(gristmill_finish(sorter) == GRISTMILL_OK);
    CHECK(gristmill_next(sorter, &record, &length) == GRISTMILL_OK);
    gristmill_free(sorter);
    CHECK(files() == 0);
    gristmill_free(begin());
}

static void a_stopped_sort_leaves_the_output(void)
{
    gristmill_sorter *sorter = begin();
    struct stat found;

    CHECK(push(sorter, RECORDS) == GRISTMILL_OK);
    CHECK(gristmill_finish(sorter) == GRISTMILL_OK);
    CHECK(gristmill_stop(sorter) == GRISTMILL_OK);
    CHECK(gristmill_write_file(sorter, "out", NULL) == GRISTMILL_STOPPED);
    CHECK(strstr(gristmill_error(sorter), "stopped") != NULL);
    CHECK(stat("out", &found) != 0 && files() == 0);
    CHECK(gristmill_finish(sorter) == GRISTMILL_STOPPED);
    gristmill_free(sorter);
}

/* One thread sorts while another one tries. */
static void *try(void *sorter)
{
    const uint8_t *record;
    size_t length;
    gristmill_status status;

    do
        status = gristmill_next(sorter, &record, &length);
    while (status == GRISTMILL_ORDER);
    CHECK(status == GRISTMILL_BUSY || status == GRISTMILL_STOPPED);
    gristmill_stop(sorter);
    return NULL;
}

static void two_threads_do_not_share_a_sorter(void)
{
    gristmill_sorter *sorter = begin();
    gristmill_status status;
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, try, sorter) == 0);
    do
        status = push(sorter, RECORDS);
    while (status == GRISTMILL_OK || status == GRISTMILL_BUSY);
    CHECK(status == GRISTMILL_STOPPED);
    pthread_join(thread, NULL);
    gristmill_free(sorter);
    CHECK(files() == 0);
}

static void a_fork_belongs_to_the_parent(void)
{
    gristmill_sorter *sorter = begin();
    const uint8_t *record;
    size_t length;
    int status;
    pid_t child;

    CHECK(push(sorter, RECORDS) == GRISTMILL_OK);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        status = push(sorter, RECORDS) == GRISTMILL_FORKED;
        gristmill_free(sorter);
        _exit(status ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(gristmill_finish(sorter) == GRISTMILL_OK);
    CHECK(gristmill_next(sorter, &record, &length) == GRISTMILL_OK);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        do
            status = (int)gristmill_next(sorter, &record, &length);
        while (status == GRISTMILL_OK);
        gristmill_free(sorter);
        _exit(status == GRISTMILL_FORKED ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(gristmill_write_file(sorter, "forked", NULL) == GRISTMILL_OK);
    gristmill_free(sorter);
    CHECK(files() == 0 && remove("forked") == 0);
}

int main(void)
{
    CHECK(mkdir("spill", 0700) == 0);
    all_come_back();
    a_sorter_is_freed_at_any_time();
    a_stopped_sort_leaves_the_output();
    two_threads_do_not_share_a_sorter();
    a_fork_belongs_to_the_parent();
    puts("passed");
    return 0;
}
