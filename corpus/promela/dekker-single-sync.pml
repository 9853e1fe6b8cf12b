/*
 * Dekker's algorithm for two processes, each of which enters once.
 * The buffers of all processes drain after each wish, which is enough under TSO.
 */
bool want[2];
byte turn;
byte ncrit;

active [2] proctype user() {
  byte me = _pid;
  byte other = 1 - _pid;
  want[me] = true;
  sync;
  do
  :: want[other] ->
     if
     :: turn == other ->
        want[me] = false;
        (turn == me);
        want[me] = true;
        sync;
     :: else
     fi
  :: else -> break
  od;
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  turn = other;
  want[me] = false
}
