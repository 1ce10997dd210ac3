import { readFile } from "node:fs/promises";
import { AppError } from "../platform/errors.ts";
import * as api from "./admin-api.ts";
import type { Schemas } from "./admin-api.ts";
import { makeApiCommand, type Command, type Machine, type Result, type Service } from "./command.ts";
import {
  defaultLimit,
  listOptions,
  listResult,
  recordLines,
  tableOf,
  updated,
  wholeList,
  type Columns,
} from "./lines.ts";
import { writeNewFile } from "./files.ts";
import { argument, option, required, UsageError, type Argument, type Option } from "./option.ts";
import { fill, fillData, fillLines, fillRows, holds } from "./template.ts";

type Input = {
  in: "path" | "query" | "body";
  kind: Kind;
  values?: readonly string[];
  placeholder?: string;
};

/** One option; `off` is a second option, a flag that sends null, false or an empty list. */
type ContractOption = Input & {
  name: string;
  property: string;
  help: string;
  isRequired?: boolean;
  default?: unknown;
  /** What the number is called in the error, such as "a grade". */
  range?: string;
  minimum?: number;
  maximum?: number;
  off?: { name: string; help: string; value: unknown };
};

/** A command of generated/openapi/admin-commands.json; openapi/rules/docs/admin-command.md says what its words mean. */
export type ContractCommand = {
  summary: string;
  method: Method;
  path: string;
  args: readonly (Input & { name: string; label: string })[];
  options: readonly ContractOption[];
  irreversible?: string;
  remoteOnly?: string;
  takesKey?: boolean;
  body?: "always" | "if given";
  sends?: object;
  keeps?: readonly string[];
  ifMissing?: Readonly<Record<string, object>>;
  refuses?: string | readonly string[];
  reads?: string;
  list?: string;
  key?: string;
  paging?: "parts" | "all" | number;
  more?: string;
  id?: string;
  columns?: Templates;
  record?: Templates;
  table?: { of: string; columns: Templates };
  lines?: string | readonly string[];
  updated?: string;
  file?: string;
  quiet?: readonly string[];
  data?: Values;
  fails?: string;
};

type Templates = Readonly<Record<string, string>>;
type Method = "get" | "post" | "put" | "patch" | "delete";

export type Request = {
  path: Readonly<Record<string, string>>;
  query: Values;
  body: Values;
};
type Values = Readonly<Record<string, unknown>>;

/** What a file of a noun adds to a command of the contract. */
export type Extension = {
  options?: Readonly<Record<string, Option<unknown>>>;
  /** Changes the body before it is sent; `before` is the record that is changed. */
  body?(body: Values, options: Values, of: { before?: object; service: Service; request: Request }): MaybeLater<Values>;
  /** Does something else with these options; undefined for what the contract says. */
  instead?(service: Service, options: Values, args: Values): Promise<Result> | undefined;
  /** Sends something else, or nothing. */
  send?(service: Service, request: Request, options: Values): Promise<unknown>;
  /** Prints something else; undefined for what the contract says. */
  print?(answer: never, options: Values, service: Service): MaybeLater<Result> | undefined;
  columns?: Columns<never>;
};

type MaybeLater<Value> = Value | Promise<Value>;

export type Extensions = Readonly<Record<string, Extension>>;

type CreateWithId = (machine: Machine, id: never, body: never) => Promise<string>;

/** Adds --id to a command that creates a record: the admin API does not offer it, the machine of the service does. */
export const withOwnId = (
  load: () => Promise<CreateWithId>,
  help = "Its id, where it has one already.",
): Extension => ({
  options: { id: option.id(help) },
  send: async (service, { body }, { id }) =>
    id === undefined
      ? undefined
      : { id: await (await load())(api.requireMachine(service, { id }), id as never, body as never) },
});

type Kind =
  | Exclude<keyof typeof option, "oneOf" | "lowerCase" | "someOf" | "checked">
  | "endpoint"
  | "one"
  | "some"
  | "yes-no"
  | "file"
  | "lower";

function makeOption({ kind, help, placeholder, values = [] }: ContractOption): Option<unknown> {
  if (kind === "one") return option.oneOf(values, help);
  if (kind === "lower") return option.lowerCase(values, help);
  if (kind === "some") return option.someOf(values, help);
  if (kind === "yes-no") return option.oneOf(["yes", "no"], help);
  if (kind === "file") return option.text(help, "path");
  const make: (meaning: string, placeholder?: string) => Option<unknown> = option[kind === "endpoint" ? "id" : kind];
  return make(help, placeholder);
}

function makeArgument({ kind, label, values }: ContractCommand["args"][number]): Argument<unknown> {
  if (values !== undefined) return argument.oneOf(values);
  if (kind === "school" || kind === "person" || kind === "group" || kind === "endpoint")
    return { ...argument.named(kind), label };
  return kind === "id" || kind === "ids" ? argument.id(label) : argument.text(label);
}

function makeOptions({ options, list, paging = "parts", file }: ContractCommand): Record<string, Option<unknown>> {
  const all: Record<string, Option<unknown>> = {};
  for (const described of options) {
    const { name, isRequired, off } = described;
    const made = makeOption(described);
    all[name] = isRequired && off === undefined ? required(made) : made;
    if (off !== undefined) all[off.name] = option.flag(off.help);
  }
  if (file !== undefined) all["file"] = required(option.text("The file; it must not exist.", "path"));
  if (list === undefined || paging === "all") return all;
  const most = paging === "parts" ? defaultLimit : paging;
  all["limit"] = option.count(`How many at most; ${most} if left out.`);
  return paging === "parts" ? { ...all, after: listOptions.after } : all;
}

function sentValue(described: ContractOption, options: Values): unknown {
  const { kind, name, off, isRequired, default: usual, range, minimum = 0, maximum = Infinity } = described;
  const value = options[name];
  const isLeftOut = value === undefined || (kind === "flag" && value === false);
  if (off !== undefined && options[off.name] === true) {
    if (!isLeftOut) throw new UsageError(`Give --${name} or --${off.name}, not both.`);
    return off.value;
  }
  if (isLeftOut && isRequired && off !== undefined) throw new UsageError(`Give --${name} or --${off.name}.`);
  if (isLeftOut) return usual;
  if (range !== undefined && !(Number(value) >= minimum && Number(value) <= maximum))
    throw new UsageError(`--${name} is ${range} from ${minimum} to ${maximum}.`);
  if (value instanceof Date) return value.toISOString();
  if (kind === "yes-no") return value === "yes";
  return Array.isArray(value) ? [...new Set<unknown>(value)] : value;
}

/** Sets a property by its path, with the objects on the way. */
function put(object: Record<string, unknown>, path: string, value: unknown): void {
  const [name = "", ...rest] = path.split(".");
  if (rest.length === 0) object[name] = value;
  else put((object[name] ??= {}) as Record<string, unknown>, rest.join("."), value);
}

async function readContent(file: string, name: string): Promise<string> {
  const content = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file)).trim();
  if (content === "") throw new UsageError(`--${name}: the file is empty.`);
  return content;
}

async function readRequest(command: ContractCommand, args: Values, options: Values): Promise<Request> {
  const request = { path: {}, query: {}, body: { ...command.sends } };
  for (const { name, in: place, kind } of command.args)
    put(request[place], name, kind === "ids" ? [args[name]] : args[name]);
  for (const described of command.options) {
    const { kind, name, property, in: place } = described;
    const value = sentValue(described, options);
    if (value !== undefined)
      put(
        request[place],
        property,
        kind === "file" && typeof value === "string" ? await readContent(value, name) : value,
      );
  }
  return request;
}

type Call = { args: Values; options: Values; extension: Extension };
type Sent = Pick<Request, "path" | "query"> & { body?: object | undefined; header?: object };

const client = ({ api: { request } }: Service, method: Method, path: string, sent: Sent, isFile = false) =>
  request(
    method,
    path as never,
    {
      params: { path: sent.path, query: sent.query, header: sent.header },
      ...(method !== "get" && sent.body !== undefined && { body: sent.body }),
      ...(isFile && { parseAs: "stream" }),
    } as never,
  ) as Promise<api.ApiResponse<unknown>>;

const get = (service: Service, path: string, request: Request): Promise<unknown> =>
  api.bodyOf(client(service, "get", path, { path: request.path, query: {} }));

/** Makes the command that sends one request, from its description in the contract. */
export function makeContractCommand(command: ContractCommand, extension: Extension = {}): Command {
  const { summary, irreversible, remoteOnly } = command;
  return makeApiCommand({
    summary,
    args: Object.fromEntries(command.args.map((one) => [one.name, makeArgument(one)])),
    options: { ...makeOptions(command), ...extension.options },
    ...(irreversible !== undefined && { irreversible }),
    ...(remoteOnly !== undefined && { remoteOnly }),
    run: (service, { args, options }) => run(service, command, { args, options, extension }),
  });
}

async function run(service: Service, command: ContractCommand, { args, options, extension }: Call): Promise<Result> {
  const other = extension.instead?.(service, options, args);
  if (other !== undefined) return other;
  const request = await readRequest(command, args, options);
  for (const template of [command.refuses ?? []].flat()) {
    const reason = fill(template, [request.body, request.query]);
    if (reason !== null) throw new UsageError(reason);
  }
  const makeBody = async (before?: object) =>
    (await extension.body?.(request.body, options, { service, request, ...(before && { before }) })) ?? request.body;
  if (command.updated !== undefined) return update(service, command, { request, makeBody });
  if (command.file !== undefined) return writeAnswer(service, command, { request, options });
  if (command.keeps !== undefined) {
    const { body, answer, isChanged } = await sendKept(service, command, { request, makeBody });
    return printAnswer(command, answer, [{ isChanged }, body, request.query, args]);
  }
  const sent = { ...request, body: await makeBody() };
  if (command.list !== undefined) return readList(service, command, { request: sent, options, extension });
  let answer = (await extension.send?.(service, sent, options)) ?? (await send(service, command, sent));
  if (command.reads !== undefined) answer = await get(service, command.reads, request);
  const printed = await extension.print?.(answer as never, options, service);
  return printed ?? printAnswer(command, answer, [sent.body, request.query, args]);
}

type Sending = { request: Request; options: Values; extension: Extension };
type Changing = { request: Request; makeBody: (before?: object) => Promise<Values> };

function send(service: Service, command: ContractCommand, request: Request): Promise<unknown> {
  const { method, path, takesKey } = command;
  // The service refuses an empty change; reading the record instead still reports one that does not exist.
  if (method === "patch" && api.isEmpty(request.body)) return get(service, path, request);
  const isEmpty = command.body === undefined || (command.body === "if given" && api.isEmpty(request.body));
  const header = takesKey === true ? api.withIdempotencyKey().header : {};
  return api.bodyOf(client(service, method, path, { ...request, body: isEmpty ? undefined : request.body, header }));
}

const withKept = ({ keeps = [] }: ContractCommand, record: object, body: Values): Values => ({
  ...Object.fromEntries(Object.entries(record).filter(([name]) => keeps.includes(name))),
  ...body,
});

/** `isChanged`: whether the record had something else of what the command always sends. */
const sendKept = (service: Service, command: ContractCommand, { request, makeBody }: Changing) =>
  api.retryStale(async () => {
    const { method, path, sends = {} } = command;
    const { record, ifMatch: header } = await readKept(service, command, request);
    const body = withKept(command, record, await makeBody(record));
    const isChanged = Object.entries(sends).some(([name, value]) => (record as Values)[name] !== value);
    return { body, isChanged, answer: await api.bodyOf(client(service, method, path, { ...request, body, header })) };
  });

async function readKept(service: Service, { path, ifMissing = {} }: ContractCommand, request: Request) {
  try {
    return await api.readTagged(client(service, "get", path, request) as Promise<api.ApiResponse<object>>);
  } catch (error) {
    const record = error instanceof AppError ? ifMissing[error.code] : undefined;
    if (record === undefined) throw error;
    return { record, ifMatch: {} };
  }
}

async function update(service: Service, command: ContractCommand, { request, makeBody }: Changing): Promise<Result> {
  const { method, path, record, updated: label = "" } = command;
  const read = () => client(service, "get", path, request) as Promise<api.ApiResponse<object>>;
  if (record !== undefined && api.isEmpty(request.body)) return printAnswer(command, await api.bodyOf(read()), []);
  const changed = await api.updateRecord<object>({
    read,
    change: async (before, header) => {
      const body = await makeBody(before);
      if (api.isEmpty(body)) return null;
      return client(service, method, path, { ...request, body: withKept(command, before, body), header });
    },
  });
  return updated(label, Object.values(request.path)[0]!, changed);
}

async function writeAnswer(
  service: Service,
  command: ContractCommand,
  { request, options }: Omit<Sending, "extension">,
) {
  const file = String(options["file"]);
  const header = command.takesKey === true ? api.withIdempotencyKey().header : {};
  await writeNewFile(file, async () => {
    const { data, response } = await client(service, command.method, command.path, { ...request, header }, true);
    const content = data as ReadableStream<Uint8Array>;
    if (!response.headers.get("Content-Type")?.startsWith("application/json")) return { content };
    return { content: `${JSON.stringify(await new Response(content).json(), null, 2)}\n` };
  });
  return printAnswer({ data: { file: "$file" }, ...command, lines: command.file! }, undefined, [
    { file },
    request.path,
  ]);
}

async function readList(service: Service, command: ContractCommand, { request, options, extension }: Sending) {
  const { list = "", key = list, paging = "parts", id = "$id", columns = {}, more } = command;
  const read = (page: object) =>
    client(service, command.method, command.path, {
      ...request,
      query: { ...request.query, ...page },
    }) as Promise<api.ApiResponse<Item[]>>;
  const limit = (options["limit"] as number | undefined) ?? (typeof paging === "number" ? paging : defaultLimit);
  const table = (extension.columns as Columns<Item> | undefined) ?? columnsOf(columns);
  if (paging === "parts") {
    const after = options["after"] as string | undefined;
    return listResult(list, await api.listFirst(read, { limit: limit + 1, after }), limit, table);
  }
  const items =
    paging === "all" ? await api.listAll(read) : await api.listFirst(read, { limit: limit + (more ? 1 : 0) });
  const printed = await extension.print?.(items as never, options, service);
  if (printed !== undefined) return printed;
  const isCut = more !== undefined && items.length > limit;
  const listed = isCut ? items.slice(0, limit) : items;
  const { lines, ...result } = wholeList(list, listed, { columns: table, id: (item) => fill(id, [item]) ?? "" });
  const data = { [key]: listed, ...(more !== undefined && { more: isCut }) };
  return { ...result, lines: isCut ? [...lines, more] : lines, data };
}

type Item = { id: string };

const columnsOf = (templates: Templates): Columns<Item> =>
  Object.fromEntries(
    Object.entries(templates).map(([heading, template]) => [heading, (item) => fill(template, [item], "")]),
  );

function printAnswer(command: ContractCommand, answer: unknown, sent: readonly unknown[]): Result {
  if (Array.isArray(answer)) return printChanges(answer as Schemas["ViewChange"][]);
  const scopes = [answer, ...sent];
  const { record, table, lines = [], quiet = record === undefined ? [] : ["$id"], data, fails } = command;
  const rows = Object.entries(record ?? {}).flatMap(([label, template]) => fillRows(label, template, scopes));
  const listed = table && (fillData(`$${table.of}`, scopes) as Item[]);
  return {
    ...(listed && { table: tableOf(listed, columnsOf(table.columns)) }),
    lines: [
      ...recordLines(Object.fromEntries(rows)),
      ...withoutEmptyEnd([lines].flat().flatMap((line) => fillLines(line, scopes))),
    ],
    quiet: quiet.flatMap((template) => [fillData(template, scopes) ?? []].flat().map(String)),
    ...(fails !== undefined && { hasFailed: holds(fails, scopes) }),
    data:
      data === undefined
        ? ((answer as object | undefined) ?? idsOf(command, sent.at(-1) as Values))
        : dataOf(data, scopes),
  };
}

const withoutEmptyEnd = (lines: readonly string[]) => lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);

const dataOf = (data: Values, scopes: readonly unknown[]): object =>
  Object.fromEntries(Object.entries(data).map(([name, template]) => [name, fillData(template, scopes)]));

/** One id as `id`, several by the names of the arguments. */
function idsOf({ args }: ContractCommand, values: Values): object {
  if (args.length === 1) return { id: values[args[0]!.name] };
  return Object.fromEntries(args.map(({ name, label }) => [label, values[name]]));
}

const changeText = ({ appName, people, groups, schools }: Schemas["ViewChange"]): string => {
  const count = (of: Schemas["ViewChangeCounts"]) => `${of.enter} enter, ${of.change} change, ${of.leave} leave`;
  return `${appName}: people ${count(people)}; groups ${count(groups)}; schools ${count(schools)}.`;
};

const printChanges = (changes: readonly Schemas["ViewChange"][]): Result => ({
  lines: changes.length === 0 ? ["No app would see anything else."] : changes.map(changeText),
  data: { changes },
});
