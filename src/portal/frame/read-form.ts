import { schoolTexts, type BodyOf, type OperationId } from "../../admin/index.ts";
import { findBodyProperty, type BodyProperty } from "../../platform/contract-texts.ts";
import type { PageRequest } from "./page-request.ts";
import { refuseField } from "./calls.ts";

type Sent = Pick<PageRequest, "field" | "typed">;

/** A field of a form, with the path of its property in the body if that is not its name. */
export type FieldName = string | readonly [field: string, property: string];

/** Reads the fields of a form into the body of an operation, as the contract describes its properties. */
export function readForm<Id extends OperationId>(sent: Sent, operation: Id, fields: readonly FieldName[]): BodyOf<Id> {
  const body: Record<string, unknown> = {};
  for (const one of fields) {
    const [name, path] = typeof one === "string" ? [one, one] : one;
    const property = findBodyProperty(operation, path);
    if (property === null) throw new Error(`The body of ${operation} has no property ${path}.`);
    const value = readField(sent, name, property);
    if (value !== undefined) setAt(body, property.pointer.split("/").slice(1), value);
  }
  return body as BodyOf<Id>;
}

/** Returns undefined for an empty field whose property may be left out. */
function readField({ field, typed }: Sent, name: string, { schema, items, isOptional }: BodyProperty): unknown {
  const text = field(name);
  if (schema.type === "boolean") return text === "on";
  if (schema.type === "array") return readList(typed[name] ?? [], text, items ?? {});
  if (text === "" && schema.nullable === true) return null;
  if (text === "" && isOptional) return undefined;
  // A select that the page does not have.
  if (schema.enum !== undefined && typed[name] === undefined) return undefined;
  if (schema.type !== "integer") return text;
  // The contract refuses a text that is not a number.
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
}

/** The values of ticked boxes, those of the contract in its order, or the lines of a text. */
function readList(values: readonly string[], text: string, { enum: known, type, format }: BodyProperty["schema"]) {
  if (known !== undefined) return [...new Set([...known.filter((value) => values.includes(String(value))), ...values])];
  if (type === "integer") return values.map(Number);
  return format === "uuid" ? [...new Set(values)] : linesOf(text);
}

export const linesOf = (text: string): string[] => [...new Set(text.split(/\s*\n\s*/).filter((line) => line !== ""))];

function setAt(body: Record<string, unknown>, [name = "", ...inner]: string[], value: unknown): void {
  if (inner.length === 0) body[name] = value;
  else setAt((body[name] ??= {}) as Record<string, unknown>, inner, value);
}

/** The boxes below the radio buttons of a field: for each button that has some, their name. */
type Boxes<Kind extends string> = Readonly<Partial<Record<Kind, string>>>;

/**
 * Decides which radio button counts: ticking a box selects the button that it belongs to.
 *
 * The button that was selected when the form was shown (its field `shown-<name>`) gives way to the ticked boxes of
 * another. If both were chosen by hand, the form is refused.
 * Errors: Refused choice_contradicts.
 */
export function readChoice<Kind extends string>(
  sent: Sent,
  name: string,
  { selected, boxes, nobody }: { selected: Kind; boxes: Boxes<Kind>; nobody?: Kind },
): Kind {
  const ticked = (Object.entries(boxes) as [Kind, string][])
    .filter(([, box]) => readChosen(sent, box).length > 0)
    .map(([kind]) => kind);
  const others = ticked.filter((kind) => kind !== selected);
  const isByHand = !["", selected].includes(sent.field(`shown-${name}`));
  const isComplete = selected === nobody || ticked.includes(selected);
  if (others.length === 0 || (isByHand && isComplete)) return selected;
  if (isByHand || ticked.length > 1) throw refuseField(name, "choice_contradicts");
  return others[0]!;
}

type Named = { id: string; name: string };

/** The options that a form shows out of many; `kept`: chosen ids not shown; `isMore`: the search found more. */
export type Choices = { search: string; options: (Named & { isChosen: boolean })[]; kept: string[]; isMore: boolean };

export const mostChoices = 40;

/** The chosen ids of a form: ticked boxes and `kept` ones. */
export const readChosen = ({ typed, field }: Sent, name: string): string[] => [
  ...new Set([...(typed[name] ?? []), ...field(`kept-${name}`).split(",")].filter((id) => id !== "")),
];

export const searchOf = ({ field }: Pick<Sent, "field">, name: string): string => field(`search-${name}`);

/** Shows as many results as fit; without a search, chosen options come first. */
export function makeChoices(search: string, results: readonly Named[], chosen: readonly string[]): Choices {
  const isChosen = ({ id }: Named): boolean => chosen.includes(id);
  const inOrder = search === "" ? [...results.filter(isChosen), ...results.filter((one) => !isChosen(one))] : results;
  const options = inOrder.slice(0, mostChoices);
  return {
    search,
    options: options.map((one) => ({ ...one, isChosen: isChosen(one) })),
    kept: chosen.filter((id) => !options.some((one) => one.id === id)),
    isMore: results.length > options.length,
  };
}

/** Codes that schools use most; the API takes others too. */
const schoolingLevels = Object.keys(schoolTexts.de.level);

/** The schooling levels of a form, including the present one of the school. */
export const nameSchoolingLevels = ({ t }: PageRequest, present: string | null = null): Named[] => [
  ...schoolingLevels.map((id) => ({ id, name: t(`frame.level.${id}`) })),
  ...(present === null || schoolingLevels.includes(present) ? [] : [{ id: present, name: present }]),
];
