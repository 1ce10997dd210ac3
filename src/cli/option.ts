import type { ClientId } from "../access/index.ts";
import type { GroupId, PersonId, PersonRole, SchoolId } from "../directory/index.ts";
import type { ImportId } from "../imports/index.ts";
import { didYouMean } from "../platform/text/did-you-mean.ts";
import { Named, type Kind } from "./names.ts";

export const schoolRoles: readonly PersonRole[] = ["STUDENT", "TEACHER", "OTHER"];

/** The call was written wrongly: exit code 2, with the help of the command. */
export class UsageError extends Error {}

export type Option<Value> = {
  meaning: string;
  /** What stands for the value in the help; null for a flag, which has none. */
  placeholder: string | null;
  /** All values that it may have, for completion. */
  words?: readonly string[];
  isList: boolean;
  isRequired: boolean;
  /** `texts` is empty if the option was left out. Returns a `Value`, or `Named` in place of an id. */
  read(texts: readonly string[]): unknown;
  /** Never set; carries the type of the value after `read` and the look-up of names. */
  type?: Value;
};

/** What stands behind a command's name; `label` is its name in the help, if that is not its key. */
export type Argument<Value> = {
  label?: string | undefined;
  words?: readonly string[];
  read(text: string): unknown;
  type?: Value;
};

type ReadOne = (text: string) => unknown;
type Look = { meaning: string; placeholder: string; words?: readonly string[] };

function single<Value>(look: Look, readOne: ReadOne): Option<Value | undefined> {
  const read = ([text]: readonly string[]) => (text === undefined ? undefined : readOne(text));
  return { ...look, isList: false, isRequired: false, read };
}

function many<Value>(look: Look, readOne: ReadOne): Option<Value[] | undefined> {
  const read = (texts: readonly string[]) => {
    if (texts.length === 0) return undefined;
    const parts = texts.flatMap((text) => text.split(",")).map((part) => part.trim());
    if (parts.includes("")) throw new UsageError("a value is empty.");
    return parts.map(readOne);
  };
  return { ...look, isList: true, isRequired: false, read };
}

const idShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function readId(text: string): string {
  if (!idShape.test(text))
    throw new UsageError(`'${text}' is not an id; ids look like 0198c2f4-0000-7000-8000-000000000000.`);
  return text.toLowerCase();
}

/** An id as it is, or a name that is looked up before the command runs. */
const readIdOrName =
  (kind: Kind): ReadOne =>
  (text) => {
    if (text.trim() === "") throw new UsageError("the value is empty.");
    return idShape.test(text) ? text.toLowerCase() : new Named(kind, text.trim());
  };

const readOneOf =
  (words: readonly string[]): ReadOne =>
  (text) => {
    const word = words.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
    if (word !== undefined) return word;
    throw new UsageError(`'${text}' is not one of ${words.join(", ")}.${didYouMean(text, words)}`);
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

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Units: seconds; 0 needs no unit. */
function readDuration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (text === "0") return 0;
  if (count === undefined || unit === undefined)
    throw new UsageError(`'${text}' is not a time span such as 7d, 12h, 30m or 10s.`);
  return Number(count) * secondsOf[unit]!;
}

export const argument = {
  id: <Id extends string>(label: string): Argument<Id> => ({ label, read: readId }),
  /** An id, or what stands for it: an official id, a user name, the name of a group, an app with one endpoint. */
  named: <Id extends string>(label: Kind): Argument<Id> => ({ label, read: readIdOrName(label) }),
  text: <Text extends string = string>(label?: string): Argument<Text> => ({ label, read: (text) => text }),
  oneOf: <Word extends string>(words: readonly Word[]): Argument<Word> => ({ words, read: readOneOf(words) }),
};

const parameters = {
  schoolId: argument.named<SchoolId>("school"),
  personId: argument.named<PersonId>("person"),
  groupId: argument.named<GroupId>("group"),
  clientId: argument.text<ClientId>("app"),
  importId: argument.id<ImportId>("import"),
  sandboxId: argument.id("sandbox"),
};

/** The arguments of a command by hand: path parameters of the contract, by their names there. */
export const argsNamed = <Name extends keyof typeof parameters>(...names: Name[]): Pick<typeof parameters, Name> =>
  Object.fromEntries(names.map((name) => [name, parameters[name]])) as Pick<typeof parameters, Name>;

const text = (meaning: string, placeholder = "text") => single<string>({ meaning, placeholder }, (written) => written);
const schoolLook = (meaning: string) => ({ meaning, placeholder: "id|official-id" });
const groupLook = (meaning: string) => ({ meaning, placeholder: "id|name" });

/** The kinds of options; lists of ids, names and words may also be separated by commas. */
export const option = {
  text,
  texts: (meaning: string, placeholder = "text"): Option<readonly string[] | undefined> => ({
    meaning,
    placeholder,
    isList: true,
    isRequired: false,
    read: (texts) => (texts.length === 0 ? undefined : texts),
  }),
  id: <Id extends string>(meaning: string) => single<Id>({ meaning, placeholder: "id" }, readId),
  ids: (meaning: string) => many<string>({ meaning, placeholder: "id" }, readId),
  school: (meaning: string) => single<SchoolId>(schoolLook(meaning), readIdOrName("school")),
  schools: (meaning: string) => many<SchoolId>(schoolLook(meaning), readIdOrName("school")),
  person: (meaning: string) => single<PersonId>({ meaning, placeholder: "id|user-name" }, readIdOrName("person")),
  people: (meaning: string) => many<PersonId>({ meaning, placeholder: "id|user-name" }, readIdOrName("person")),
  group: (meaning: string) => single<GroupId>(groupLook(meaning), readIdOrName("group")),
  groups: (meaning: string) => many<GroupId>(groupLook(meaning), readIdOrName("group")),
  oneOf: <Word extends string>(words: readonly Word[], meaning: string) =>
    single<Word>({ meaning, placeholder: words.join("|"), words }, readOneOf(words)),
  /** Words that are typed and listed in lower case. */
  lowerCase: <Word extends string>(values: readonly Word[], meaning: string) => {
    const words = values.map((word) => word.toLowerCase());
    const read = readOneOf(words);
    return single<Word>({ meaning, placeholder: words.join("|"), words }, (written) =>
      String(read(written)).toUpperCase(),
    );
  },
  someOf: <Word extends string>(words: readonly Word[], meaning: string) =>
    many<Word>({ meaning, placeholder: words.join("|"), words }, readOneOf(words)),
  checked: <Value>(meaning: string, placeholder: string, read: (text: string) => Value) =>
    single<Value>({ meaning, placeholder }, read),
  count: (meaning: string) => single<number>({ meaning, placeholder: "number" }, readCount),
  time: (meaning: string) => single<Date>({ meaning, placeholder: "time" }, readTime),
  duration: (meaning: string) => single<number>({ meaning, placeholder: "time" }, readDuration),
  flag: (meaning: string): Option<boolean> => ({
    meaning,
    placeholder: null,
    isList: false,
    isRequired: false,
    read: (texts) => texts.length > 0,
  }),
};

export function required<Value>({ type: _, ...of }: Option<Value | undefined>): Option<Value> {
  return { ...of, isRequired: true };
}
