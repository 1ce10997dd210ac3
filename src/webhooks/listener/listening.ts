const addSeconds = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1000);

/** Stands in place of an address; no request is ever sent there. */
export const listenerUrl = "about:listener";

const keptSeconds = 900;
/** How long a delivery that was fetched is under way before it is due again. */
const underWaySeconds = 60;

/** When a listening endpoint ends from which nothing is fetched any more. */
export const listensUntil = (now: Date): Date => addSeconds(now, keptSeconds);

/** When a delivery that is fetched now is due again, unless it is told what came of it. */
export const takenUntil = (now: Date): Date => addSeconds(now, underWaySeconds);
