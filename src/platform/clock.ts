/** The time as a dependency, so that tests can fix it. */
export type Clock = () => Date;

/** The clock of this machine, for what concerns it alone, such as the age of its files. */
export const systemClock: Clock = () => new Date();

/** The time so many days of 24 hours later; earlier where `days` is negative. */
export const addDays = (time: Date, days: number): Date => new Date(time.getTime() + days * 86_400_000);
