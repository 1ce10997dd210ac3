/** The call was written wrongly: exit code 2, with the help of the command. */
export class UsageError extends Error {}

export type Option<Value> = {
  meaning: string;
  /** What stands for the value in the help; null for a flag, which has none. */
  placeholder: string | null;
  /** May be given several times. */
  isList: boolean;
  isRequired: boolean;
  /** Reads all that was written; empty where the option was left out. */
  read(texts: readonly string[]): Value;
};

type ReadOne<Value> = (text: string) => Value;

function single<Value>(meaning: string, placeholder: string, readOne: ReadOne<Value>): Option<Value | undefined> {
  return {
    meaning,
    placeholder,
    isList: false,
    isRequired: false,
    read: ([text]) => (text === undefined ? undefined : readOne(text)),
  };
}

function many<Value>(meaning: string, placeholder: string, readOne: ReadOne<Value>): Option<Value[] | undefined> {
  const split = (texts: readonly string[]) => texts.flatMap((text) => text.split(",")).map((part) => part.trim());
  const read = (texts: readonly string[]) => {
    if (texts.length === 0) return undefined;
    const parts = split(texts);
    if (parts.includes("")) throw new UsageError("a value is empty.");
    return parts.map(readOne);
  };
  return { meaning, placeholder, isList: true, isRequired: false, read };
}

const idShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function readId<Id extends string>(text: string): Id {
  if (!idShape.test(text))
    throw new UsageError(`'${text}' is not an id; ids look like 0198c2f4-0000-7000-8000-000000000000.`);
  return text.toLowerCase() as Id;
}

const readOneOf =
  <Word extends string>(words: readonly Word[]): ReadOne<Word> =>
  (text) => {
    const word = words.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
    if (word === undefined) throw new UsageError(`'${text}' is not one of ${words.join(", ")}.`);
    return word;
  };

function readCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`'${text}' is not a whole number.`);
  return Number(text);
}

function readTime(text: string): Date {
  const time = new Date(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(time.getTime()))
    throw new UsageError(`'${text}' is not a time such as 2026-02-03T08:00:00Z.`);
  return time;
}

const secondsOf: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 };

/** Units: seconds; 0 needs no unit. */
export function readDuration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (text === "0") return 0;
  if (count === undefined || unit === undefined)
    throw new UsageError(`'${text}' is not a time span such as 7d, 12h or 30m.`);
  return Number(count) * secondsOf[unit]!;
}

/** Reads what stands behind a command's name. */
export type Argument<Value> = (text: string) => Value;

export const argument = {
  id: <Id extends string>(): Argument<Id> => readId<Id>,
  text:
    <Text extends string = string>(): Argument<Text> =>
    (text) =>
      text as Text,
};

/** The kinds of options; lists of ids and words may also be separated by commas. */
export const option = {
  text: (meaning: string, placeholder = "text") => single(meaning, placeholder, (text) => text),
  texts: (meaning: string, placeholder = "text"): Option<readonly string[] | undefined> => ({
    ...single(meaning, placeholder, (text) => text),
    isList: true,
    read: (texts) => (texts.length === 0 ? undefined : texts),
  }),
  id: <Id extends string>(meaning: string) => single(meaning, "id", readId<Id>),
  ids: <Id extends string>(meaning: string) => many(meaning, "id", readId<Id>),
  oneOf: <Word extends string>(words: readonly Word[], meaning: string) =>
    single(meaning, words.join("|"), readOneOf(words)),
  someOf: <Word extends string>(words: readonly Word[], meaning: string) =>
    many(meaning, words.join("|"), readOneOf(words)),
  count: (meaning: string) => single(meaning, "number", readCount),
  time: (meaning: string) => single(meaning, "time", readTime),
  duration: (meaning: string) => single(meaning, "time", readDuration),
  flag: (meaning: string): Option<boolean> => ({
    meaning,
    placeholder: null,
    isList: false,
    isRequired: false,
    read: (texts) => texts.length > 0,
  }),
};

/** Makes leaving the option out wrong usage. */
export function required<Value>(of: Option<Value | undefined>): Option<Value> {
  // Checked before anything is read: see read-call.ts.
  return { ...of, isRequired: true, read: (texts) => of.read(texts) as Value };
}
