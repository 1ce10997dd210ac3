import makeFetchClient, { type Client as FetchClient, type Middleware } from "openapi-fetch";
import type {
  Change,
  ChangeList,
  Erasure,
  ErasureOutcome,
  Codeliste,
  Group,
  IdentifierChange,
  IdmPaths,
  ListedGroup,
  ListedPerson,
  Person,
  Personendatensatz,
  PersonenInfoFilter,
  Roster,
  School,
  SchulconnexPaths,
  SchulconnexSpelling,
  User,
} from "./contract.ts";
import { ApiError, readApiError } from "./errors.ts";
import { readPages } from "./pages.ts";
import { isIdempotent, makeRetrying, type RetryOptions, type Send } from "./retry.ts";
import { makeTokens, type Credentials } from "./tokens.ts";

export type ClientOptions<Spelling extends SchulconnexSpelling = "V1_4"> = Credentials &
  RetryOptions & {
    /** How the app is registered to read Schulconnex codes. Chooses types only. Default `V1_4`. */
    schulconnexSpelling?: Spelling | undefined;
    /** Where the APIs are, if not at the issuer. */
    baseUrl?: string | undefined;
    /** Instead of the global `fetch`. */
    fetch?: Send | undefined;
  };

/** `signal` ends the call, also while it waits for a token or a retry. */
export type CallOptions = { signal?: AbortSignal | undefined };
/** `limit`: how many records a page has, 1 to 1000; default 500. */
export type ListOptions = CallOptions & { limit?: number | undefined };
export type ListDeletedOptions = ListOptions & { showDeleted?: boolean | undefined };
/** `id`: only the person with this old or new id. */
export type IdentifierOptions = ListOptions & { id?: string | undefined };
/** `after`: the position behind which to begin. */
export type ChangesOptions = ListOptions & { after: string };
/** `state`: which erasures; the open ones by default. */
export type ErasuresOptions = ListOptions & { state?: Erasure["state"] | undefined };

/**
 * Lists are read page by page as the loop goes on. `find…` answers null for what does not exist, or not for the app.
 */
export type IdmClient = {
  readonly scopes: readonly string[];
  listSchools(options?: ListOptions): AsyncGenerator<School, void>;
  listSchoolUsers(schoolId: string, options?: ListOptions): AsyncGenerator<User, void>;
  listSchoolGroups(schoolId: string, options?: ListDeletedOptions): AsyncGenerator<ListedGroup, void>;
  listSchoolPeople(schoolId: string, options?: ListDeletedOptions): AsyncGenerator<ListedPerson, void>;
  findSchool(id: string, options?: CallOptions): Promise<School | null>;
  /** The school with its groups, people and users, as far as the scopes of the client reach. */
  findSchoolRoster(id: string, options?: CallOptions): Promise<Roster | null>;
  findUser(id: string, options?: CallOptions): Promise<User | null>;
  findGroup(id: string, options?: CallOptions): Promise<Group | null>;
  /** `showDeleted`: a soft-deleted person too; the record then has a `status`. */
  findPerson(id: string, options?: CallOptions & { showDeleted?: boolean | undefined }): Promise<Person | null>;
  /** The present position in the change feed. */
  getPosition(options?: CallOptions): Promise<string>;
  /** The changes behind `after` to the present end of the feed. Errors: `CursorExpiredError`. */
  listChanges(options: ChangesOptions): AsyncGenerator<Change, void>;
  /** The same by page; `next` is the position to keep once the page is worked on. */
  listChangePages(options: ChangesOptions): AsyncGenerator<ChangeList, void>;
  /** The people whose data the app must erase, for an app that confirms erasures. */
  listErasures(options?: ErasuresOptions): AsyncGenerator<Erasure, void>;
  /**
   * Confirms an erasure, or says why data is kept; sent again like a read. Null if there is nothing to confirm any
   * more.
   */
  acknowledgeErasure(id: string, outcome: ErasureOutcome, options?: CallOptions): Promise<Erasure | null>;
  /** The old and the new ids of people, for an app that is moved from shared ids to ids of its own. */
  listIdentifierChanges(options?: IdentifierOptions): AsyncGenerator<IdentifierChange, void>;
  /** Every operation of the IDM API as openapi-fetch calls it; what is no success is thrown as `ApiError`. */
  readonly idm: FetchClient<IdmPaths>;
};

export type Client<Spelling extends SchulconnexSpelling = "V1_4"> = IdmClient & {
  listPersonenInfo(filter?: PersonenInfoFilter, options?: CallOptions): Promise<Personendatensatz<Spelling>[]>;
  /** The Schulconnex record of the person whose sign-on brought this access token. */
  getPersonInfo(userToken: string, options?: CallOptions): Promise<Personendatensatz<Spelling>>;
  /** The codes of the records with their names in German and English. */
  listCodelisten(options?: CallOptions): Promise<Codeliste[]>;
  /** Every operation of Schulconnex as openapi-fetch calls it; what is no success is thrown as `ApiError`. */
  readonly schulconnex: FetchClient<SchulconnexPaths<Spelling>>;
};

/**
 * A client of the service for one app.
 *
 * Errors: every call throws `ApiError`, `TokenError` if there is no token for it, `NetworkError` if there is no answer,
 * or the reason of its signal.
 */
export function createClient<Spelling extends SchulconnexSpelling = "V1_4">(
  options: ClientOptions<Spelling>,
): Client<Spelling> {
  const settings = { baseUrl: options.baseUrl ?? options.issuer, fetch: makeAuthorized(options) };
  const idm = makeFetchClient<IdmPaths>(settings);
  const schulconnex = makeFetchClient<SchulconnexPaths>(settings);
  for (const client of [idm, schulconnex]) client.use(throwErrors);

  const listChangePages: IdmClient["listChangePages"] = async function* ({ after, limit = 500, signal }) {
    for (let [position, isMore] = [after, true]; isMore;) {
      const query = { after: position, limit };
      const list = (await idm.GET("/idm/ep/v1/changes", { params: { query }, ...onlySet({ signal }) })).data!;
      yield list;
      [position, isMore] = [list.next, list.more];
    }
  };

  const client: Client = {
    scopes: options.scopes,
    idm,
    schulconnex,
    listSchools: ({ limit = 500, signal } = {}) =>
      readPages((page) =>
        idm.GET("/idm/ep/v1/schools", { params: { query: { limit, ...page } }, ...onlySet({ signal }) }),
      ),
    listSchoolUsers: (id, { limit = 500, signal } = {}) =>
      readPages((page) =>
        idm.GET("/idm/ep/v1/schools/{id}/users", {
          params: { path: { id }, query: { limit, ...page } },
          ...onlySet({ signal }),
        }),
      ),
    listSchoolGroups: (id, { limit = 500, showDeleted = false, signal } = {}) =>
      readPages((page) =>
        idm.GET("/idm/ep/v1/schools/{id}/groups", {
          params: { path: { id }, query: { limit, "show-deleted": showDeleted, ...page } },
          ...onlySet({ signal }),
        }),
      ),
    listSchoolPeople: (id, { limit = 500, showDeleted = false, signal } = {}) =>
      readPages((page) =>
        idm.GET("/idm/ep/v1/schools/{id}/people", {
          params: { path: { id }, query: { limit, "show-deleted": showDeleted, ...page } },
          ...onlySet({ signal }),
        }),
      ),
    findSchool: (id, { signal } = {}) =>
      orNull(idm.GET("/idm/ep/v1/schools/{id}", { params: { path: { id } }, ...onlySet({ signal }) })),
    findSchoolRoster: (id, { signal } = {}) =>
      orNull(idm.GET("/idm/ep/v1/schools/{id}/roster", { params: { path: { id } }, ...onlySet({ signal }) })),
    findUser: (id, { signal } = {}) =>
      orNull(idm.GET("/idm/ep/v1/users/{id}", { params: { path: { id } }, ...onlySet({ signal }) })),
    findGroup: (id, { signal } = {}) =>
      orNull(idm.GET("/idm/ep/v1/groups/{id}", { params: { path: { id } }, ...onlySet({ signal }) })),
    findPerson: (id, { showDeleted = false, signal } = {}) =>
      orNull(
        idm.GET("/idm/ep/v1/people/{id}", {
          params: { path: { id }, query: { "show-deleted": showDeleted } },
          ...onlySet({ signal }),
        }),
      ),
    getPosition: async ({ signal } = {}) => (await idm.GET("/idm/ep/v1/changes", onlySet({ signal }))).data!.next,
    listChangePages,
    listIdentifierChanges: ({ limit = 500, id, signal } = {}) =>
      readPages((page) =>
        idm.GET("/idm/ep/v1/identifier-changes", {
          params: { query: { limit, ...(id !== undefined && { id }), ...page } },
          ...onlySet({ signal }),
        }),
      ),
    async *listChanges(wish) {
      for await (const { changes } of listChangePages(wish)) yield* changes;
    },
    listErasures: ({ limit = 500, state, signal } = {}) =>
      readPages((page) =>
        idm.GET("/idm/ep/v1/erasures", {
          params: { query: { limit, ...page, ...(state && { state }) } },
          ...onlySet({ signal }),
        }),
      ),
    acknowledgeErasure: (id, body, { signal } = {}) =>
      orNull(idm.POST("/idm/ep/v1/erasures/{id}", { params: { path: { id } }, body, ...onlySet({ signal }) })),
    listPersonenInfo: async (query = {}, { signal } = {}) =>
      (await schulconnex.GET("/idm/schulconnex/v1/personen-info", { params: { query }, ...onlySet({ signal }) })).data!,
    getPersonInfo: async (userToken, { signal } = {}) => {
      const headers = { authorization: `Bearer ${userToken}` };
      return (await schulconnex.GET("/idm/schulconnex/v1/person-info", { headers, ...onlySet({ signal }) })).data!;
    },
    listCodelisten: async ({ signal } = {}) =>
      (await schulconnex.GET("/idm/schulconnex/v1/codelisten", onlySet({ signal }))).data!,
  };
  // The spellings differ in types only: what the service answers depends on the registration of the app.
  return client as unknown as Client<Spelling>;
}

/** Adds the token of the app to a request that has none, and asks once for another one if the service refuses it. */
function makeAuthorized(options: ClientOptions<SchulconnexSpelling>): Send {
  const sendOnce = options.fetch ?? ((request: Request) => fetch(request));
  const send = makeRetrying(sendOnce, options, isIdempotent);
  // One token more harms nobody.
  const tokens = makeTokens(
    options,
    makeRetrying(sendOnce, options, () => true),
  );
  return async (request) => {
    if (request.headers.has("authorization")) return send(request);
    const token = await tokens.get(request.signal);
    const response = await send(withToken(request, token));
    if (!isTokenRefused(response)) return response;
    await response.body?.cancel();
    tokens.forget(token);
    return send(withToken(request, await tokens.get(request.signal)));
  };
}

function withToken(request: Request, token: string): Request {
  const copy = request.clone();
  copy.headers.set("authorization", `Bearer ${token}`);
  return copy;
}

const isTokenRefused = ({ status, headers }: Response): boolean =>
  status === 401 && /error="?invalid_token\b/.test(headers.get("www-authenticate") ?? "");

const throwErrors: Middleware = {
  async onResponse({ response }) {
    if (!response.ok && response.status !== 304) throw await readApiError(response);
  },
};

const absent = [
  ...["school_not_found", "organization_not_found", "user_not_found", "group_not_found"],
  "erasure_not_found",
];

/** The service itself must say that the record is absent: an address that is wrong answers 404 too. */
async function orNull<Data>(answer: Promise<{ data?: Data }>): Promise<Data | null> {
  try {
    return (await answer).data!;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404 && absent.includes(error.code)) return null;
    throw error;
  }
}

const onlySet = ({ signal }: CallOptions): { signal?: AbortSignal } => (signal ? { signal } : {});
