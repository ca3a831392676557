#include <stdio.h>

int main(void) {
    double x[4] = {1, 2, 3, 6};
    double sum = 0;
    for (int i = 0; i < 4; i++) sum += x[i];
    printf("%f\n", sum / 4);
    return 0;
}
