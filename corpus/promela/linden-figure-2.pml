/*
 * Two processes that store forever, Fig. 2 of Linden and Wolper: their buffers grow without bound.
 */
byte x, y;

active proctype p0() {
  do
  :: store(x, 1); store(x, 0)
  od
}

active proctype p1() {
  do
  :: store(y, 1); store(y, 0)
  od
}
