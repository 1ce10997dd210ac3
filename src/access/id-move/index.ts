/*
 * id-move: gives an app with shared ids of people ids of its own, without a moment in which it finds nobody.
 *
 * Nouns:      old sector (people known to the app have the ids by which it knows them, others have new ones), new
 *             sector (everybody has a new id), cut-over (the app's sector becomes the new one), announcement (the event
 *             with the old and the new id of a person).
 * Invariants: an app reads the ids of one sector at a time; the people it ever saw keep their old ids until the
 *             cut-over; each person is announced once; the states are PREPARING, RUNNING, CUT_OVER, or CALLED_OFF after
 *             either of the first two.
 * Never knows: how ids are read (pairwise.ts), who may start a move.
 */
export { callOffIdMove, checkNewIdMove, cutOverIdMove, findIdMove, startIdMove, updateIdMove } from "./change.ts";
export type { IdInUse, IdMove, NewIdMove } from "./change.ts";
export { makeIdMoveJob } from "./job.ts";
export { countKnown, fromIdChanges, noteIdChangesRead } from "./people.ts";
