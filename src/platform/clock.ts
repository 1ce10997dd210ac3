export type Clock = () => Date;

/** This machine's clock, for local things such as the age of its files. */
export const systemClock: Clock = () => new Date();

export const addDays = (time: Date, days: number): Date => new Date(time.getTime() + days * 86_400_000);
