/*
 * Store buffering with forwarding, Table 1 of Linden and Wolper.
 * Under SC one of the processes waits at its last load forever. Under TSO and PSO that may happen too,
 * but both may also come to their ends.
 */
byte x, y;

active proctype p1() {
  store(x, 1);
  load(x, 1);
  load(y, 0)
}

active proctype p2() {
  store(y, 1);
  load(y, 1);
  load(x, 0)
}
