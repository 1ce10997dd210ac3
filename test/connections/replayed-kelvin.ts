import { replay, type Asked, type Reply } from "./replayed.ts";

/** The server calls itself by this name, whatever its address is. */
const host = "https://ucs.schulen.example/ucsschool/kelvin";

export type KelvinUser = ReturnType<typeof makeKelvinUser>;

export function makeKelvinUser(
  name: string,
  {
    version = "v1",
    schools = ["GYM-Mitte"],
    roles = ["student"],
    classes = {} as Record<string, string[]>,
    groups = {} as Record<string, string[]>,
    ...rest
  }: {
    version?: string;
    schools?: string[];
    roles?: string[];
    classes?: Record<string, string[]>;
    groups?: Record<string, string[]>;
    firstname?: string;
    lastname?: string;
    record_uid?: string | null;
    source_uid?: string | null;
    disabled?: boolean;
    expiration_date?: string | null;
    ucsschool_roles?: string[];
  } = {},
) {
  return {
    dn: `uid=${name},cn=users,ou=${schools[0]},dc=schulen,dc=example`,
    url: `${host}/${version}/users/${name}`,
    ucsschool_roles: schools.flatMap((school) => roles.map((role) => `${role}:school:${school}`)),
    name,
    school: `${host}/${version}/schools/${schools[0]}`,
    firstname: "Ada",
    lastname: name,
    birthday: "2012-05-04" as string | null,
    disabled: false,
    email: `${name}@schulen.example`,
    expiration_date: null as string | null,
    record_uid: `rec-${name}` as string | null,
    roles: roles.map((role) => `${host}/${version}/roles/${role}`),
    schools: schools.map((school) => `${host}/${version}/schools/${school}`),
    school_classes: classes,
    workgroups: groups,
    source_uid: "SIS" as string | null,
    udm_properties: { phone: ["+49 511 1234567"] },
    ...rest,
  };
}

const schoolNames: Record<string, string> = { "GYM-Mitte": "Gymnasium Mitte", "123456": "Realschule am Park" };

type Replayed = {
  users: readonly KelvinUser[];
  /** Whether lists have pages, as in version 4.2 of the second interface. */
  hasPages?: boolean;
  answer?: (asked: Asked) => Reply | undefined;
};

/** The Kelvin REST API of UCS@school with two schools. A page has at most two users, however many are asked for. */
export function replayKelvin({ users, hasPages = false, answer = () => undefined }: Replayed) {
  return replay((asked) => {
    const other = answer(asked);
    if (other !== undefined) return other;
    const url = new URL(asked.path, host);
    const step = url.pathname.replace("/ucsschool/kelvin/", "");
    if (step === "token") {
      const form = new URLSearchParams(asked.body);
      const isRight = form.get("username") === "schultor" && form.get("password") === "geheim";
      return isRight
        ? { body: { access_token: "ein.kelvin.token", token_type: "bearer" } }
        : { status: 401, body: { detail: "Incorrect username or password" } };
    }
    if (asked.headers.authorization !== "Bearer ein.kelvin.token") return { status: 401 };
    const [, school] = /^v[12]\/schools\/(.+)$/.exec(step) ?? [];
    if (school !== undefined) {
      const name = Object.keys(schoolNames).find(
        (one) => one.toLowerCase() === decodeURIComponent(school).toLowerCase(),
      );
      return name === undefined ? { status: 404 } : { body: { name, display_name: schoolNames[name] } };
    }
    if (!/^v[12]\/users\/$/.test(step)) return { status: 404 };
    const found = users.filter(({ schools }) =>
      schools.some((one) => one.endsWith(`/${url.searchParams.get("school")}`)),
    );
    if (!hasPages) return { body: found };
    const from = Number(url.searchParams.get("cursor") ?? 0);
    url.searchParams.set("cursor", String(from + 2));
    const next = from + 2 < found.length ? url.href : null;
    return { body: { results: found.slice(from, from + 2), next_page_url: next, previous_page_url: null } };
  });
}
