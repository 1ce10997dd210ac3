import { stringify } from "csv-stringify/sync";
import type { AdminSchemas } from "../../admin/index.ts";
import { csvForSpreadsheets } from "../../platform/text/csv.ts";
import { Refused, take, takePage, type Handed, type Shown, type Visit } from "../frame/index.ts";
import { logoFor } from "./logins.ts";
import { listAddress, nameOf } from "./words.ts";

type Role = AdminSchemas["SchoolRole"];

const roleNames: readonly Role[] = ["STUDENT", "TEACHER", "OTHER"];
/** As many as the admin API lists at once. */
const pageSize = 1000;
const columns = ["className", "name", "username", "password"] as const;

const readRoles = ({ typed }: Visit): Role[] => roleNames.filter((role) => typed["role"]?.includes(role));

/** Offers passwords for everybody of the school who has none. */
export async function showSchoolPasswords(visit: Visit): Promise<Shown> {
  const chosen = visit.refused === null ? ["STUDENT"] : readRoles(visit);
  const model = { base: listAddress(visit), roleNames, chosen };
  const title = visit.t("schoolPasswords.title");
  return { title, view: "school-passwords", model };
}

type Row = { className: string; name: string; username: string; password: string };

/** Makes the passwords, class by class. Shape: the same form sent again answers the same ones. */
async function make(visit: Visit): Promise<Row[]> {
  const { api, part, once, locale } = visit;
  const roles = readRoles(visit);
  if (roles.length === 0) throw new Refused(400, { code: "roles_missing" });
  const params = { path: { schoolId: part("schoolId") }, header: { "Idempotency-Key": once } };
  const body = { onlyMissing: true, roles };
  const made = await take(api.POST("/admin/v1/schools/{schoolId}/logins", { params, body }));
  const classes = made.length === 0 ? new Map<string, string>() : await readClasses(visit);
  const { compare } = new Intl.Collator(locale, { numeric: true });
  return made
    .map((secret) => {
      const { personId, username, password } = secret;
      return { className: classes.get(personId) ?? "", name: nameOf(secret, visit), username, password };
    })
    .toSorted((a, b) => compare(a.className, b.className));
}

/** The names of the classes of each person at the school. */
async function readClasses(visit: Visit): Promise<Map<string, string>> {
  const { api, part } = visit;
  const asked = { school: part("schoolId"), limit: pageSize };
  const groups = await takePage(api.GET("/admin/v1/groups", { params: { query: asked } }));
  const isClass = new Set(groups.items.filter(({ type }) => type === "KLASSE").map(({ id }) => id));
  const classes = new Map<string, string>();
  for (let cursor: string | null = ""; cursor !== null;) {
    const query = { ...asked, status: "ACTIVE" as const, ...(cursor !== "" && { cursor }) };
    const { items, next }: Awaited<ReturnType<typeof readPeople>> = await readPeople(visit, query);
    for (const person of items) {
      const names = person.groups.filter(({ id }) => isClass.has(id)).map(({ name }) => name);
      classes.set(person.id, names.join(", "));
    }
    cursor = next;
  }
  return classes;
}

const readPeople = ({ api }: Visit, query: { school: string; limit: number; cursor?: string }) =>
  takePage(api.GET("/admin/v1/people", { params: { query } }));

/** The one page on which the passwords stand, to be printed or taken as a file. */
export async function giveSchoolPasswords(visit: Visit): Promise<Shown> {
  const rows = await make(visit);
  const cards = rows.map((row) => ({ ...row, code: null, answer: null }));
  const page = { base: listAddress(visit), csvRoles: readRoles(visit), logo: await logoFor(visit) };
  const made = { cards, skipped: [], printId: null, ...page };
  return { title: visit.t("cards.title"), view: "cards", model: made };
}

/** The same passwords as a file for a spreadsheet. */
export async function handSchoolPasswords(visit: Visit): Promise<Handed> {
  const { t, locale } = visit;
  const file = stringify(await make(visit), {
    ...csvForSpreadsheets,
    header: true,
    bom: true,
    delimiter: locale === "de" ? ";" : ",",
    columns: columns.map((key) => ({ key, header: t(`schoolPasswords.columns.${key}`) })),
  });
  return { file, type: "text/csv; charset=utf-8", name: `${t("schoolPasswords.file")}.csv` };
}
