/*
 * Dekker's algorithm for two processes, entered again and again.
 * Nothing orders the store of a wish with the look at the other's, so a store buffer breaks it.
 */
bool want[2];
byte turn;
byte ncrit;

active [2] proctype user() {
  byte me = _pid;
  byte other = 1 - _pid;
again:
  want[me] = true;
  do
  :: want[other] ->
     if
     :: turn == other ->
        want[me] = false;
        (turn == me);
        want[me] = true;
     :: else
     fi
  :: else -> break
  od;
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  turn = other;
  want[me] = false;
  goto again
}
