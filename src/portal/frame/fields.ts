import type { OperationId } from "../../admin/index.ts";
import { findBodyProperty, type BodyProperty, type PropertySchema } from "../../platform/contract-texts.ts";
import { escapeHtml, type Render, type Translate } from "../../platform/pages/index.ts";
import { firstText } from "./describe.ts";
import type { LinkRequest } from "./frame.ts";
import type { PropertyFault } from "./calls.ts";

/** What a form offers: a record, or a value that `nameOf` names. */
export type Choice = string | number | { id: string | number; name: string; code?: string };

export const choiceOf = (one: Choice, nameOf: (value: string | number) => string = String) =>
  typeof one === "object" ? one : { id: one, name: nameOf(one) };

type FieldOptions = {
  label: string;
  /** The present value; of boxes, those that are ticked. */
  value?: string | number | boolean | readonly (string | number)[] | null;
  hint?: string;
  /** The property, if it does not have the name of the field. */
  at?: string;
  id?: string;
  /** What can be chosen; otherwise the values of the contract, if `nameOf` names them. `none` is the empty one. */
  choices?: string | readonly Choice[];
  nameOf?: (value: string | number) => string;
  none?: string;
  rows?: number;
  type?: "password" | "file" | "time";
  /** Each line of the text is an item of a list. */
  perLine?: boolean;
  /** In a cell of a table: the label is not shown. */
  isBare?: boolean;
  /** If the page asks for more or less than the contract. */
  isRequired?: boolean;
  /** Boxes beside each other. */
  isRow?: boolean;
  /** For values that are not words of a language, such as ids. */
  isCode?: boolean;
  more?: Readonly<Record<string, string | number>>;
};

type Boxes = Omit<FieldOptions, "choices"> & { at: string; choices: unknown; chosen: readonly unknown[] };

type Attributes = Record<string, string | number | boolean | undefined>;

/** A field of a refused form that is wrong, for the summary. */
type FieldFault = { id: string; text: string };

export type Fields = {
  /** Begins a form of these operations. `index` is the value of its field `form`, if the page has several. */
  begin(operations: readonly OperationId[], index: string | number | undefined): void;
  field(name: string, options: FieldOptions): string;
  /** The attributes of a box or button that is wrong. */
  wrong(name: string, at?: string): string;
  /** The message of a group of boxes or buttons that is wrong. */
  fault(name: string, at?: string): string;
  /** What the fields drawn so far were found wrong in, each once. */
  faults(): FieldFault[];
};

/** Draws the fields of a page: what each may hold by the contract, and what is wrong if the form was refused. */
export function makeFields(request: LinkRequest, render: Render): Fields {
  const { t, req, refused, typed } = request;
  const errors = refused?.problem.errors ?? [];
  const faults = new Map<string, string>();
  let operations: readonly OperationId[] = [];
  let isSent = false;

  const propertiesAt = (at: string): BodyProperty[] =>
    operations.flatMap((operation) => findBodyProperty(operation, withoutIndices(at)) ?? []);

  function faultOf(name: string, at = name, options: Partial<FieldOptions> = {}): string | null {
    const { choices, perLine = false, label } = options;
    const properties = propertiesAt(at);
    const pointers = [`/${name}`, `/${at}`, ...(isIndexed(at) ? [] : properties.map(({ pointer }) => pointer))];
    const fault = isSent ? errors.find((one) => pointers.some((pointer) => isAt(one, pointer))) : undefined;
    if (fault === undefined) return null;
    const isEmpty = label !== undefined && request.field(name) === "";
    const rule = !isKeyword(fault.rule)
      ? fault.rule
      : choices !== undefined
        ? "enum"
        : isEmpty
          ? "required"
          : fault.rule;
    const text = describeRule(rule, properties[0]?.schema ?? {}, t);
    const index = perLine ? /\/(\d+)(?:\/|$)/.exec(fault.pointer)?.[1] : undefined;
    return index === undefined
      ? text
      : t("frame.fault.line", { line: lineOf(request.field(name), Number(index)), text });
  }

  /** After a change meanwhile, the page shows the present record instead of the typed values. */
  const isTyped = () => isSent && Object.keys(typed).length > 0;

  /** Draws the box of a property that is true or false, or a box for each value that a list can have. */
  function drawBoxes(name: string, { choices, chosen, ...options }: Boxes): string {
    const { at, hint, nameOf } = options;
    const isOne = !Array.isArray(choices);
    const ticked = chosen.map((one) => (one === true ? "on" : String(one)));
    const described = { ...options.more, ...(isOne && hint && { "aria-describedby": `${name}-hint` }) };
    const fault = drawFault(name, at);
    const boxes = (isOne ? [{ id: "on", name: options.label }] : (choices as Choice[]))
      .map((one) => choiceOf(one, nameOf))
      .map((one) => ({
        ...one,
        isTicked: ticked.includes(String(one.id)),
        attributes: write(described) + drawWrong(name, at),
      }));
    return render("boxes", { ...options, name, isOne, boxes, fault });
  }

  function drawWrong(name: string, at?: string): string {
    const text = faultOf(name, at);
    if (text === null) return "";
    const id = faults.has(name) ? undefined : name;
    faults.set(name, text);
    return write({ id, "aria-invalid": "true", "aria-describedby": `${name}-fault` });
  }

  function drawFault(name: string, at?: string): string {
    const text = faultOf(name, at);
    return text === null ? "" : `<p class="fault" id="${name}-fault">${escapeHtml(text)}</p>`;
  }

  return {
    begin(of, index) {
      operations = of;
      isSent = req.method === "POST" && (index === undefined || request.field("form") === String(index));
    },
    field(name, options) {
      const { label, at = name, rows, type, id = name, value, nameOf } = options;
      const property = propertiesAt(at)[0];
      const choices = options.choices ?? (nameOf && ((property?.items ?? property?.schema)?.enum as Choice[]));
      const values = isTyped() && type !== "password" ? typed[name] : undefined;
      if (property?.schema.type === "boolean" || (property?.schema.type === "array" && typeof choices === "object"))
        return drawBoxes(name, { ...options, at, choices, chosen: isTyped() ? (values ?? []) : [value ?? []].flat() });
      const fault = faultOf(name, at, { ...options, ...(choices !== undefined && { choices }) });
      if (fault !== null) faults.set(id, `${label.replace(/[?:]$/, "")}: ${fault}`);
      const kind = choices !== undefined ? "select" : rows !== undefined ? "textarea" : "input";
      const current = values?.[0] ?? value ?? "";
      const attributes: Attributes = {
        id,
        name,
        ...(kind === "input" && type !== "file" && { value: String(current) }),
        ...(kind === "textarea" && { rows }),
        ...constraintsOf(property, kind, options),
        ...describedBy(id, options.hint, fault),
        ...(options.isBare && { "aria-label": label }),
        ...options.more,
      };
      // A browser leaves out a line break at the beginning of a textarea.
      const text = String(current).replace(/^(?=\r?\n)/, "\n");
      const all = typeof choices === "object" ? choices.map((one) => choiceOf(one, nameOf)) : [];
      const written = typeof choices === "string" ? choices : render("options", { all, chosen: current });
      return render("field", { ...options, id, kind, text, fault, choices: written, attributes: write(attributes) });
    },
    wrong: drawWrong,
    fault: drawFault,
    faults: () => [...faults].map(([id, text]) => ({ id, text })),
  };
}

function constraintsOf(property: BodyProperty | undefined, kind: string, options: FieldOptions): Attributes {
  const { isRequired = property?.isRequired === true, isCode = false } = options;
  const { format, pattern, minLength = 0, maxLength, minimum, maximum, ...schema } = property?.schema ?? {};
  const type = options.type ?? typeOf(schema.type, format);
  const isText = kind !== "select" && ["text", "url", "password"].includes(type);
  return {
    ...(kind === "input" && { type }),
    ...(kind === "input" && type === "number" && { min: minimum, max: maximum }),
    ...(isText && { maxlength: maxLength, minlength: minLength > 1 ? minLength : undefined }),
    ...(isText && kind === "input" && { pattern: pattern && patternOf(pattern) }),
    required: isRequired,
    ...(isText && { autocomplete: "off" }),
    ...(isText && (isCode || type === "url") && { autocapitalize: "none", spellcheck: "false" }),
  };
}

function typeOf(type: string | undefined, format: string | undefined): string {
  if (type === "integer") return "number";
  if (format === "uri") return "url";
  return format === "date" || format === "date-time" ? "date" : "text";
}

/** A pattern of HTML describes the whole value and escapes a hyphen at the end of a class. */
const patternOf = (pattern: string): string =>
  `${pattern.startsWith("^") ? "" : ".*"}${pattern.replaceAll("-]", "\\-]")}${pattern.endsWith("$") ? "" : ".*"}`;

const describedBy = (id: string, hint: string | undefined, fault: string | null): Attributes => {
  const ids = [...(hint ? [`${id}-hint`] : []), ...(fault === null ? [] : [`${id}-fault`])];
  return {
    "aria-describedby": ids.length > 0 && ids.join(" "),
    "aria-invalid": fault !== null && "true",
  };
};

const write = (attributes: Attributes): string =>
  Object.entries(attributes)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => (value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`))
    .join("");

const withoutIndices = (path: string): string => path.replaceAll(/\/-?\d+(?=\/|$)/g, "");
const isIndexed = (path: string): boolean => path !== withoutIndices(path);

/** The keywords of schemas have no underscore, codes of errors do. */
const isKeyword = (rule: string): boolean => !rule.includes("_");

/** The line of the item with this index; pages leave out empty lines and those that repeat another. */
function lineOf(text: string, index: number): number {
  const lines = text.split("\n").map((line) => line.trim());
  const item = [...new Set(lines.filter((line) => line !== ""))][index];
  return item === undefined ? index + 1 : lines.indexOf(item) + 1;
}

/** Whether a fault concerns a property, or one inside it. A pointer may name its last part alone. */
function isAt({ pointer }: PropertyFault, property: string): boolean {
  const path = isIndexed(property) ? pointer : withoutIndices(pointer);
  return property.endsWith(path) || path.startsWith(`${property}/`);
}

/** Describes a fault by the keyword that the value breaks, or by the code of the error. */
function describeRule(rule: string, schema: PropertySchema, t: Translate): string {
  const { minLength = 0, maxLength, minimum, maximum, maxItems, format, example } = schema;
  const isNumber = schema.type === "integer";
  switch (rule) {
    case "required":
    case "text_empty":
      return t("frame.fault.missing");
    case "minLength":
      return minLength > 1 ? t("frame.fault.tooShort", { count: minLength }) : t("frame.fault.missing");
    case "maxLength":
    case "text_too_long":
      return maxLength === undefined ? t("problems.text_too_long") : t("frame.fault.tooLong", { count: maxLength });
    case "type":
    case "minimum":
    case "maximum":
      if (!isNumber) return t("frame.fault.missing");
      return minimum === undefined || maximum === undefined
        ? t("frame.fault.number")
        : t("frame.fault.range", { minimum, maximum });
    case "format":
      return format === "uri" ? t("frame.fault.uri") : t("frame.fault.date");
    case "pattern":
    case "text_malformed":
      return typeof example === "string" ? t("frame.fault.like", { example }) : t("problems.text_malformed");
    case "enum":
    case "minItems":
      return t("frame.fault.choose");
    case "maxItems":
      return t("frame.fault.tooMany", { count: maxItems ?? 0 });
    default:
      return firstText(t, [`problems.${rule}`, "problems.text_malformed"]);
  }
}
