void cube(double x, double* y) { *y = x * x * x; }
void cube_slope(double x, double* dy) { *dy = 3.0 * x * x; }
