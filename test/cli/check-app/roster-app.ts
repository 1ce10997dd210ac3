import type { Version } from "../../../clients/tools/src/check-app/roster-records.ts";

/** What an app does wrong when it reads OneRoster, the check that it fails, and what the check saw. */
export const rosterFaults = [
  ["never begins", "oneroster-token", "The app did not begin to read."],
  ["sends no token", "oneroster-token", "/orgs had no token of the token endpoint."],
  ["asks for the scope openid", "oneroster-token", "/orgs was requested with the scope openid."],
  ["sends a wrong secret", "oneroster-token", "User and password were not the client ID and the secret"],
  ["leaves out the version", "oneroster-requests", "GET /ims/oneroster/orgs is not below /ims/oneroster/v1p1 or "],
  ["reads lists of grades", "oneroster-requests", "/lineItems is no address of the contract."],
  ["writes", "oneroster-requests", "/orgs was sent: send GET."],
  ["filters by an e-mail address", "oneroster-requests", "There is no field email."],
  ["filters without quotes", "oneroster-requests", "The filter is not a condition"],
  ["compares with no time", "oneroster-requests", "dateLastModified is compared with a time."],
  ["sorts by an unknown field", "oneroster-requests", "There is no field constructor."],
  ["selects an unknown field", "oneroster-requests", "There is no field phone."],
  ["sends an unknown parameter", "oneroster-requests", "There is no parameter page."],
  ["asks for too large pages", "oneroster-requests", "limit is from 1 to 10000"],
  ["leaves out a busy page", "oneroster-busy", "got 503, and was not repeated."],
  ["reads first pages", "oneroster-pages", "Of 201 records of "],
  ["counts pages", "oneroster-pages", "the first 102 were read without a gap."],
  ["asks for active changes", "oneroster-deletion", "status%3D%27active%27"],
  ["asks for later changes", "oneroster-deletion", "It is in none of the lists that were read: "],
  ["reads no people again", "oneroster-deletion", "The second time the app read no list of people."],
  ["does not select the status", "oneroster-deletion", "It is in none of the lists that were read: "],
] as const;
export type RosterFault = (typeof rosterFaults)[number][0];

export type RosterAppSettings = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  version: Version;
  fault?: RosterFault | undefined;
};

const folders = { v1p1: "/ims/oneroster/v1p1", v1p2: "/ims/oneroster/rostering/v1p2" };

/** An app that reads all lists at first, then what changed since. Each call is a reading. */
export function makeRosterApp({ issuer, clientId, clientSecret, version, fault }: RosterAppSettings) {
  let since: string | null = null;

  async function getToken(): Promise<string> {
    const secret = fault === "sends a wrong secret" ? "wrong" : clientSecret;
    const named = [clientId, secret].map((one) => new URLSearchParams([["v", one]]).toString().slice(2)).join(":");
    const roster = `https://purl.imsglobal.org/spec/or/${version}/scope/roster.readonly`;
    const scope = fault === "asks for the scope openid" ? "openid" : roster;
    const response = await fetch(`${issuer}/oauth2/token`, {
      method: "POST",
      headers: { Authorization: `Basic ${Buffer.from(named).toString("base64")}` },
      body: new URLSearchParams({ grant_type: "client_credentials", scope }),
    });
    return ((await response.json()) as { access_token: string }).access_token;
  }

  function queryOf(list: string): URLSearchParams {
    const query = new URLSearchParams({ limit: fault === "asks for too large pages" ? "10001" : "100" });
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const changes = `dateLastModified>'${fault === "asks for later changes" ? later : since}'`;
    const filters: Partial<Record<RosterFault, string>> = {
      "filters by an e-mail address": "email='a@example.org'",
      "filters without quotes": "status=active",
      "compares with no time": "dateLastModified>'yesterday'",
    };
    const filter = (fault && filters[fault]) ?? (since === null ? null : changes);
    if (filter !== null)
      query.set("filter", fault === "asks for active changes" ? `status='active' AND ${filter}` : filter);
    if (fault === "sorts by an unknown field") query.set("sort", "constructor");
    if (fault === "selects an unknown field") query.set("fields", "phone");
    if (fault === "does not select the status" && list === "users") query.set("fields", "sourcedId,username");
    if (fault === "sends an unknown parameter") query.set("page", "1");
    return query;
  }

  async function readList(list: string, token: string): Promise<void> {
    const folder = fault === "leaves out the version" ? "/ims/oneroster" : folders[version];
    const headers = fault === "sends no token" ? {} : { Authorization: `Bearer ${token}` };
    const method = fault === "writes" ? "PUT" : "GET";
    const query = queryOf(list);
    let url: string | undefined = `${issuer}${folder}/${list}?${query.toString()}`;
    for (let page = 1; url !== undefined; page++) {
      const response: Response = await fetch(url, { method, headers });
      if (response.status === 503 && fault !== "leaves out a busy page") continue;
      const next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
      if (next !== undefined && fault === "counts pages") {
        query.set("offset", String(page));
        url = page > 2 ? undefined : `${issuer}${folder}/${list}?${query.toString()}`;
      } else url = fault === "reads first pages" ? undefined : next;
    }
  }

  return async (): Promise<void> => {
    if (fault === "never begins") return;
    const token = await getToken();
    const startedAt = new Date().toISOString();
    const lists = ["orgs", "academicSessions", "classes", "users", "enrollments"];
    if (fault === "reads lists of grades") lists.push("lineItems");
    for (const list of lists)
      if (fault !== "reads no people again" || since === null || list !== "users") await readList(list, token);
    since = startedAt;
  };
}
