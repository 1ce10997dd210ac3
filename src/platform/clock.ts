/** The time as a dependency, so that tests can fix it. */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
