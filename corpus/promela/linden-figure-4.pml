/*
 * A cycle that unlocks another, Fig. 4 of Linden and Wolper.
 * The first process may run ahead and fill its buffer; what leaves it lets the second go on. Where each has just
 * stored a 0 the other does not wait for and nothing is buffered, both wait forever.
 */
byte x = 1;
byte y = 1;

active proctype p0() {
  do
  :: store(x, 1); load(y, 1); store(x, 0); load(y, 1)
  od
}

active proctype p1() {
  do
  :: store(y, 1); load(x, 0); store(y, 0); load(x, 1)
  od
}
