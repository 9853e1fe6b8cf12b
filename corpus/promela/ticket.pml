/*
 * A ticket lock whose numbers go around, for three processes.
 * Under PSO the next number may be called before what was done under the lock is in memory.
 */
#define K 4

byte next, serving;
byte ncrit;

active [3] proctype user() {
  byte ticket;
  bit drawn;
again:
  do
  :: drawn -> break
  :: else ->
     ticket = next;
     drawn = cas(next, ticket, (ticket + 1) % K)
  od;
  drawn = 0;
  (serving == ticket);
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  serving = (ticket + 1) % K;
  goto again
}
