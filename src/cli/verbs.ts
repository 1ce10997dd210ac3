import type { paths } from "../../generated/openapi/admin.ts";
import type { ClientId } from "../access/index.ts";
import type { GroupId, PersonId, SchoolId } from "../directory/index.ts";
import type { ImportId } from "../imports/index.ts";
import { listAll, listFirst, type ApiResponse } from "./admin-api.ts";
import { makeApiCommand, type Command, type Result, type Service } from "./command.ts";
import { defaultLimit, done, listOptions, listResult, wholeList, type Columns } from "./lines.ts";
import { argument, type Argument, type Option } from "./option.ts";

type Method = "get" | "post" | "put" | "delete";
type PathWith<M extends Method> = { [Path in keyof paths]: paths[Path][M] extends object ? Path : never }[keyof paths];
type BodyOf<Path extends PathWith<"get">> = paths[Path]["get"] extends {
  responses: { 200: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;
type ItemOf<Path extends PathWith<"get">> = BodyOf<Path> extends (infer Item)[] ? NonNullable<Item> : never;
type QueryOf<Path extends PathWith<"get">> = paths[Path]["get"] extends { parameters: { query?: infer Query } }
  ? NonNullable<Query>
  : never;

/** How each path parameter of the contract is written on the command line. */
const parameters = {
  schoolId: argument.named<SchoolId>("school"),
  personId: argument.named<PersonId>("person"),
  groupId: argument.named<GroupId>("group"),
  endpointId: argument.named("endpoint"),
  clientId: argument.text<ClientId>("app"),
  deliveryId: argument.text("delivery"),
  sessionId: argument.text("session"),
  importId: argument.id<ImportId>("import"),
  columnMappingId: argument.id("mapping"),
  dataRequestId: argument.id("request"),
  handoverId: argument.id("hand-over"),
  mergerId: argument.id("merger"),
  sandboxId: argument.id("sandbox"),
  credentialBatchId: argument.id("batch"),
  scopeRequestId: argument.id("request"),
  staffRoleId: argument.id("role"),
  agreementId: argument.id("agreement"),
  agreementReceiptId: argument.id("receipt"),
  connectionId: argument.id("connection"),
  refusalId: argument.id("refusal"),
  setUpLinkId: argument.id("set-up-link"),
};

type Parameter = keyof typeof parameters;
type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? (Name & Parameter) | NamesIn<Rest> : never;

/** The arguments of a command: the parameters of its path, in their order there. */
export const argsOf = <Path extends string>(path: Path): Pick<typeof parameters, NamesIn<Path>> =>
  argsNamed(...([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name) as NamesIn<Path>[]));

export const argsNamed = <Name extends Parameter>(...names: Name[]): Pick<typeof parameters, Name> =>
  Object.fromEntries(names.map((name) => [name, parameters[name]])) as Pick<typeof parameters, Name>;

type Ids = Readonly<Record<string, string>>;
type Definition = { summary: string; irreversible?: string; args?: Readonly<Record<string, Argument<string>>> };

const send = ({ api }: Service, method: Method, path: string, params: object): Promise<ApiResponse<unknown>> =>
  api.request(method, path as never, { params } as never);

/** One id as `id`, several by the names of the arguments. */
const idsOf = (ids: Ids): Ids => {
  const [only, ...others] = Object.values(ids);
  if (others.length === 0) return { id: only! };
  return Object.fromEntries(Object.entries(ids).map(([name, id]) => [parameters[name as Parameter].label!, id]));
};

/** A command that changes what its path names, without a body, and prints `line`. */
export const changes = <M extends Method>(
  method: M,
  path: PathWith<M>,
  { line, data = idsOf, ...definition }: Definition & { line: string; data?: (ids: Ids) => object },
): Command =>
  makeApiCommand({
    args: argsOf(path),
    ...definition,
    run: async (service, { args }) => {
      await send(service, method, path, { path: args });
      return done(line, data(args));
    },
  });

export const shows = <Path extends PathWith<"get">>(
  path: Path,
  { show, ...definition }: Definition & { show: (record: BodyOf<Path>) => Result },
): Command =>
  makeApiCommand({
    args: argsOf(path),
    ...definition,
    run: async (service, { args }) => show((await send(service, "get", path, { path: args })).data as BodyOf<Path>),
  });

type Listing<Path extends PathWith<"get">> = {
  summary: string;
  name: string;
  columns: Columns<ItemOf<Path>>;
  /** Filters, called as the query parameters. */
  options?: { [Name in keyof QueryOf<Path>]?: Option<QueryOf<Path>[Name]> };
};

const reader =
  (service: Service, path: string, { args, options }: { args: object; options: object }) =>
  (page: object) =>
    send(service, "get", path, { path: args, query: { ...options, ...page } }) as Promise<ApiResponse<never[]>>;

export const lists = <Path extends PathWith<"get">>(
  path: Path,
  { name, columns, options = {}, ...definition }: Listing<Path>,
): Command =>
  makeApiCommand({
    ...definition,
    args: argsOf(path),
    options: { ...(options as object), limit: listOptions.limit, after: listOptions.after },
    run: async (service, { args, options: { limit = defaultLimit, after, ...filter } }) => {
      const found = await listFirst(reader(service, path, { args, options: filter }), { limit: limit + 1, after });
      return listResult(name, found, limit, columns);
    },
  });

export const listsAll = <Path extends PathWith<"get">>(
  path: Path,
  { name, columns, id, options = {}, ...definition }: Listing<Path> & { id: (item: ItemOf<Path>) => string },
): Command =>
  makeApiCommand({
    ...definition,
    args: argsOf(path),
    options: options as Readonly<Record<string, Option<unknown>>>,
    run: async (service, call) => {
      const found: ItemOf<Path>[] = await listAll(reader(service, path, call));
      return wholeList(name, found, { columns, id });
    },
  });
