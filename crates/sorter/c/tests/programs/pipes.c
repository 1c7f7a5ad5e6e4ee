/* Writes to a pipe whose reader goes, and beyond the limit of file sizes, with the signals at their
 * defaults, as in every program: each is an error of the call, and nothing stays. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <fcntl.h>
#include <gristmill.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

/* More than a pipe and the memory hold. */
#define RECORDS 200000u
#define MEMORY (8 << 20)

static int files(const char *name)
{
    DIR *directory = opendir(name);
    int count = 0;

    CHECK(directory != NULL);
    while (readdir(directory) != NULL)
        ++count;
    closedir(directory);
    return count - 2;
}

static gristmill_sorter *make(void)
{
    gristmill_sorter *sorter = NULL;

    CHECK(gristmill_new("fixed:100", &sorter) == GRISTMILL_OK);
    CHECK(gristmill_add_key(sorter, "0+4:u32le") == GRISTMILL_OK);
    CHECK(gristmill_set_memory(sorter, MEMORY) == GRISTMILL_OK);
    CHECK(gristmill_add_temporary(sorter, "spill") == GRISTMILL_OK);
    return sorter;
}

static gristmill_sorter *sorted(void)
{
    uint8_t record[100];
    unsigned at, number = 1;
    gristmill_sorter *sorter = make();

    CHECK(gristmill_start(sorter) == GRISTMILL_OK);
    memset(record, '.', sizeof record);
    for (at = 0; at < RECORDS; ++at) {
        number = number * 1664525u + 1013904223u;
        memcpy(record, &number, sizeof number);
        CHECK(gristmill_push(sorter, record, sizeof record) == GRISTMILL_OK);
    }
    CHECK(gristmill_finish(sorter) == GRISTMILL_OK && files("spill") > 0);
    return sorter;
}

/* Reads a little, and goes. */
static void *reader(void *name)
{
    char some[1000];
    int fd = open(name, O_RDONLY);

    CHECK(fd >= 0 && read(fd, some, sizeof some) > 0 && close(fd) == 0);
    return NULL;
}

static int is_default(int signal)
{
    struct sigaction action;
    sigset_t mask, waiting;

    CHECK(sigaction(signal, NULL, &action) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigpending(&waiting) == 0);
    return action.sa_handler == SIG_DFL && !sigismember(&mask, signal) &&
           !sigismember(&waiting, signal);
}

static void a_reader_goes(const char *name)
{
    const char *const inputs[] = {"records"};
    gristmill_sorter *sorter = sorted();
    pthread_t thread;

    CHECK(mkfifo(name, 0600) == 0);
    CHECK(pthread_create(&thread, NULL, reader, (void *)name) == 0);
    CHECK(gristmill_write_file(sorter, name, NULL) == GRISTMILL_FILE);
    CHECK(strstr(gristmill_error(sorter), "Broken pipe") != NULL);
    pthread_join(thread, NULL);
    gristmill_free(sorter);
    CHECK(files("spill") == 0 && is_default(SIGPIPE));

    sorter = make();
    CHECK(pthread_create(&thread, NULL, reader, (void *)name) == 0);
    CHECK(gristmill_sort_files(sorter, inputs, 1, name, NULL) == GRISTMILL_FILE);
    pthread_join(thread, NULL);
    gristmill_free(sorter);
    CHECK(files("spill") == 0 && is_default(SIGPIPE) && remove(name) == 0);
}

/* The output, or the temporary files, are longer than a file may be. */
static void files_are_limited(void)
{
    const char *const inputs[] = {"records"};
    const struct rlimit small = {1 << 20, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
    gristmill_sorter *sorter = sorted();
    gristmill_status status;
    struct stat found;

    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(gristmill_write_file(sorter, "limited", NULL) == GRISTMILL_FILE);
    gristmill_free(sorter);
    sorter = make();
    status = gristmill_sort_files(sorter, inputs, 1, "limited", NULL);
    CHECK(status == GRISTMILL_FILE);
    gristmill_free(sorter);
    CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0 && is_default(SIGXFSZ));
    CHECK(stat("limited", &found) != 0 && files("spill") == 0);
}

/* A name that means standard output to a command is a file. */
static void a_dash_is_a_file(void)
{
    const char *const inputs[] = {"-"};
    struct stat found;
    gristmill_sorter *sorter = sorted();

    CHECK(gristmill_write_file(sorter, "-", NULL) == GRISTMILL_OK);
    gristmill_free(sorter);
    CHECK(stat("-", &found) == 0 && found.st_size == 100 * (off_t)RECORDS);
    sorter = make();
    CHECK(gristmill_sort_files(sorter, inputs, 1, "records", NULL) == GRISTMILL_OK);
    gristmill_free(sorter);
    CHECK(remove("-") == 0);
}

int main(void)
{
    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR && signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
    CHECK(mkdir("spill", 0700) == 0);
    a_dash_is_a_file();
    a_reader_goes("pipe");
    a_reader_goes("pipe.gz");
    files_are_limited();
    puts("passed");
    return 0;
}
