import type { AdminSchemas } from "../../admin/index.ts";
import type { PageRequest } from "../frame/index.ts";

export type Policy = AdminSchemas["RetentionPolicy"];
type Fields = Readonly<Record<string, string>>;

export const periods = ["leftMonths", "inactiveMonths", "restoreDays", "auditDays"] as const;

export const none: Policy = { leftMonths: null, inactiveMonths: null, restoreDays: null, auditDays: null };

/** What the form of a policy shows; empty fields are values that somebody else sets. */
export function fieldsOf(policy: Policy): Fields {
  const values = periods.flatMap((name) => [
    [name, policy[name] === null ? "" : String(policy[name].value)] as const,
    [`${name}Reason`, policy[name]?.reason ?? ""] as const,
  ]);
  return {
    ...Object.fromEntries(values),
    leftFrom: policy.leftMonths?.from ?? "LEAVING",
    includesRoster: policy.inactiveMonths?.includesRoster === true ? "on" : "",
  };
}

type Read = PageRequest["field"];
type LeftFrom = NonNullable<Policy["leftMonths"]>["from"];

/** Reads the form; a reason without a value belongs to nothing. */
export function readPolicy(read: Read): Policy {
  const valueOf = (name: (typeof periods)[number]) =>
    read(name) === "" ? null : { value: Number(read(name)), reason: read(`${name}Reason`) };
  const [left, inactive] = [valueOf("leftMonths"), valueOf("inactiveMonths")];
  return {
    leftMonths: left && { ...left, from: (read("leftFrom") || "LEAVING") as LeftFrom },
    inactiveMonths: inactive && { ...inactive, includesRoster: read("includesRoster") === "on" },
    restoreDays: valueOf("restoreDays"),
    auditDays: valueOf("auditDays"),
  };
}

/** States whose rules we know, with a policy that follows them. The reasons are in the texts. */
const suggestions: Readonly<Record<string, (reason: string) => Policy>> = {
  "DE-RP": (reason) => ({ ...none, leftMonths: { value: 12, reason, from: "SCHOOL_YEAR_END" } }),
  "DE-SH": (reason) => ({
    ...none,
    leftMonths: { value: 0, reason, from: "LEAVING" },
    inactiveMonths: { value: 12, reason, includesRoster: false },
  }),
};

export const suggestionFor = (state: string, { t }: PageRequest): Policy | null =>
  suggestions[state]?.(t(`retention.suggestion.${state}`)) ?? null;

/** The fields that a page shows: what was typed, else the suggestion that the reader asked for, else the policy. */
export function shownFields(request: PageRequest, policy: Policy, suggestion: Policy | null): Fields {
  if (request.typed["leftFrom"] !== undefined) return fieldsOfForm(request.field);
  return fieldsOf(request.query("suggestion") === "" || suggestion === null ? policy : suggestion);
}

const fieldsOfForm = (read: Read): Fields =>
  Object.fromEntries(
    [...periods.flatMap((name) => [name, `${name}Reason`]), "leftFrom", "includesRoster"].map((name) => [
      name,
      read(name),
    ]),
  );
