/*
 * A producer hands numbers to a consumer, one at a time, by way of a flag.
 * Under PSO the flag may reach memory before the number.
 */
byte number;
bool is_there;

active proctype producer() {
  byte next;
  do
  :: !is_there ->
     number = next;
     is_there = true;
     next = (next + 1) % 3
  od
}

active proctype consumer() {
  byte expected;
  do
  :: is_there ->
     assert(number == expected);
     expected = (expected + 1) % 3;
     is_there = false
  od
}
