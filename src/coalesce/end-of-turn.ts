/**
 * The end of a turn of the event loop: everything that arrived with this turn has been read by then, so that what it asks
 * for can go together.
 *
 * What the end of a turn sets free (requests whose key was looked up) asks for the next thing together as well. That
 * need not wait for another turn, in which others would come between: it is done within the same end.
 */
let tasks: (() => unknown)[] = []
let turn = 0
let ending = false

/**
 * Runs `task` at the end of this turn.
 *
 * @param lastTurn the turn in which the caller's last task ran: at most one of a caller runs in a turn, so that callers
 *   that wait for each other let the sockets in between
 */
export function atEndOfTurn(task: () => unknown, lastTurn: number): void {
  if (ending && lastTurn !== turn) {
    // After all that the end of the turn has set free by now.
    process.nextTick(task)
    return
  }
  tasks.push(task)
  if (tasks.length > 1) return
  setImmediate(end)
  // Runs when everything is done that `end` sets free without waiting for anything outside.
  setImmediate(ended)
}

/** The number of the turn that ends; for `lastTurn`. */
export function endingTurn(): number {
  return turn
}

/**
 * Runs `task` after so many turns of the loop: at once for none. A loop with nothing else to do turns in microseconds, and
 * one with much to do gathers more for `task` meanwhile; so a wait costs time only where it saves work.
 */
export function afterTurns(turns: number, task: () => void): void {
  if (turns === 0) task()
  else setImmediate(afterTurns, turns - 1, task)
}

function end(): void {
  const ready = tasks
  tasks = []
  turn += 1
  ending = true
  for (const task of ready) task()
}

function ended(): void {
  ending = false
}
