import { checkReceiver, type OutboundPolicy } from "../platform/outbound/guarded-request.ts";
import { AppError } from "../platform/errors.ts";
import { isDay } from "../platform/clock.ts";
import { seal, unseal, type EncryptionKeys } from "../platform/crypto/seal.ts";
import { days, type Schedule } from "./schedule.ts";
import type { RosterSource, SettingName, SourceSettings } from "./sources/source.ts";

export const settingNames = [
  ...(["address", "tokenAddress", "clientId", "userName", "version", "sourceSchool", "path"] as const),
  ...(["schema", "platform", "publicKeys"] as const),
] as const satisfies SettingName[];

/** Null leaves a setting empty. */
export type GivenSettings = { [Name in SettingName]?: string | null | undefined };

const refuse = (code: string, property: string, message: string): AppError =>
  new AppError("invalid", code, `${property} ${message}.`, undefined, { property });

/** Resolves the names of the given addresses, so outside a transaction. Errors: invalid roster_setting_malformed. */
export async function checkAddresses(settings: GivenSettings, policy: OutboundPolicy): Promise<void> {
  for (const name of ["address", "tokenAddress"] as const) {
    const text = settings[name];
    if (typeof text !== "string" || text === "") continue;
    await checkReceiver(text, policy, (why) => refuse("roster_setting_malformed", name, `cannot be used: ${why}`));
  }
}

/** The settings with the given changes. Errors: invalid roster_setting_*. */
export function readSettings(
  { kind, source, schools }: { kind: string; source: RosterSource; schools: number },
  before: SourceSettings,
  given: GivenSettings,
): SourceSettings {
  const all: { [Name in SettingName]?: string | undefined } = { ...before };
  for (const name of settingNames) {
    const value = given[name]?.trim();
    if (given[name] === undefined) continue;
    if (value === undefined || value === "") all[name] = undefined;
    else if (source.fields[name] === undefined)
      throw refuse("roster_setting_unused", name, `is not used by a source of the kind ${kind}`);
    else if (/\p{Cc}/u.test(value)) throw refuse("roster_setting_malformed", name, "has a control character");
    else all[name] = value;
  }
  for (const [name, need] of Object.entries(source.fields))
    if (need === "required" && all[name as SettingName] === undefined)
      throw refuse("roster_setting_missing", name, `is missing: a source of the kind ${kind} needs it`);
  if (all.sourceSchool !== undefined && schools > 1)
    throw refuse("roster_setting_malformed", "sourceSchool", "is for a connection with one school");
  const settings = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  source.checkSettings?.(settings, refuse);
  return settings;
}

/** Errors: invalid roster_schedule_malformed. */
export function checkSchedule({ times, daysOff, pauseFrom, pauseUntil }: Schedule): void {
  const isPaused = pauseFrom !== null && pauseUntil !== null;
  if ((pauseFrom === null) !== (pauseUntil === null) || (isPaused && pauseUntil < pauseFrom))
    throw refuse("roster_schedule_malformed", "pauseUntil", "must be given with pauseFrom and not be before it");
  for (const day of [pauseFrom, pauseUntil])
    if (day !== null && !isDay(day)) throw refuse("roster_schedule_malformed", "pauseFrom", "must be a day");
  if (times.length > 0 && new Set(daysOff).size === days.length)
    throw refuse("roster_schedule_malformed", "daysOff", "must leave a day on which it runs");
}

/** Whom the secret is sent to, and as whom. */
const belongsTo = ({ address, tokenAddress, clientId, userName }: SourceSettings): string =>
  JSON.stringify([address, tokenAddress, clientId, userName].map((value) => value ?? null));

export const isForOthers = (before: SourceSettings, after: SourceSettings): boolean =>
  belongsTo(before) !== belongsTo(after);

type Sealed = { id: string; settings: SourceSettings };

// The addresses are a part of the purpose: where they are changed in the row, the secret cannot be opened.
const purposeOf = ({ id, settings }: Sealed): string => `roster-connection:${id}:${belongsTo(settings)}`;

export const sealSecret = (keys: EncryptionKeys, of: Sealed, secret: string): Buffer<ArrayBuffer> =>
  Buffer.from(seal(keys, purposeOf(of), Buffer.from(secret)));

/** Null if no key opens it. */
export const openSecret = (keys: EncryptionKeys, of: Sealed, sealed: Uint8Array): string | null =>
  unseal(keys, purposeOf(of), Buffer.from(sealed))?.toString() ?? null;
