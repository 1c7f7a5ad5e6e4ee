/* A condition that holds, or the program ends and says which one does not. */
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);           \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)
