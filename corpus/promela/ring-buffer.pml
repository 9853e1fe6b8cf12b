/*
 * A ring of three cells between one producer and one consumer, who each store one of the two ends only.
 * Nobody waits for a buffer, so that any number of stores may be pending.
 * Under PSO an end may reach memory before the cell that it is about.
 */
#define N 3

byte cell[N];
byte head, tail;

active proctype producer() {
  byte at, next;
  do
  :: (at + 1) % N != head ->
     cell[at] = next;
     at = (at + 1) % N;
     tail = at;
     next = (next + 1) % 4
  od
}

active proctype consumer() {
  byte at, expected;
  do
  :: at != tail ->
     assert(cell[at] == expected);
     at = (at + 1) % N;
     head = at;
     expected = (expected + 1) % 4
  od
}
