/* Stops a sort from another thread, as soon as it has read something. */
#include <gristmill.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *watch(void *sorter)
{
    gristmill_progress progress;

    do {
        gristmill_get_progress(sorter, &progress); /* allowed at any time, as gristmill_stop() */
    } while (progress.read == 0);
    gristmill_stop(sorter);
    return NULL;
}

int main(void)
{
    gristmill_sorter *sorter = NULL;
    gristmill_status status;
    uint8_t record[100];
    pthread_t thread;
    unsigned number = 1;

    gristmill_new("fixed:100", &sorter);
    status = gristmill_start(sorter);
    if (status != GRISTMILL_OK || pthread_create(&thread, NULL, watch, sorter) != 0)
        return 1;
    memset(record, '.', sizeof record);
    while (status == GRISTMILL_OK) {
        number = number * 1664525u + 1013904223u;
        memcpy(record, &number, sizeof number);
        status = gristmill_push(sorter, record, sizeof record);
    }
    pthread_join(thread, NULL);
    printf("%s\n", gristmill_status_text(status));
    gristmill_free(sorter);
    return 0;
}
