/*
 * Dekker's algorithm for two processes, entered again and again.
 * A fence after each wish; under PSO one before the release as well, for the counter.
 */
bool want[2];
byte turn;
byte ncrit;

active [2] proctype user() {
  byte me = _pid;
  byte other = 1 - _pid;
again:
  want[me] = true;
  fence;
  do
  :: want[other] ->
     if
     :: turn == other ->
        want[me] = false;
        (turn == me);
        want[me] = true;
        fence;
     :: else
     fi
  :: else -> break
  od;
  ncrit++;
  assert(ncrit == 1);
  ncrit--;
  fence;
  turn = other;
  want[me] = false;
  goto again
}
