/*
 * A writer counts in one variable and then in another, and never waits; the reader looks at the second first.
 * Both stop at a bound, but the writer may look at them any number of times.
 * Under TSO the second is never ahead, whatever waits in the buffer; under PSO it may be.
 */
#define BOUND 3
byte ahead, behind;

active proctype writer() {
  do
  :: ahead < BOUND -> ahead++; behind++
  :: else -> behind = ahead
  od
}

active proctype reader() {
  byte low, high;
  do
  :: low = behind;
     high = ahead;
     assert(low <= high)
  od
}
