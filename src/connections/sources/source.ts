import type { ImportFormat, ImportMode, ImportPeople } from "../../imports/index.ts";
import type { SourceLimits, SourceRequests } from "./requests.ts";

/** All settings that sources have, each a text; a source uses those of its `fields`. The secret is not among them. */
export type SettingName =
  | "address"
  | "tokenAddress"
  | "clientId"
  | "version"
  | "userName"
  | "schema"
  | "platform"
  | "sourceSchool"
  | "path"
  | "publicKeys";
export type SourceSettings = Readonly<Partial<Record<SettingName, string>>>;

export type SourceSchool = { id: string; officialId: string; name: string };

type Need = "required" | "optional";

/** `fingerprint`: of the host key. */
export type DropAddress = { address: string; fingerprint: string };

/** Makes the error of a setting: its code, such as roster_setting_malformed, its name, and "must be …". */
type RefuseSetting = (code: string, property: string, message: string) => Error;

/** A kind of program that a roster comes from. It checks only that the answer is whole; the import checks the rest. */
export type RosterSource = {
  /** Errors of `checkSettings`: invalid, for a setting that is missing or not of this kind. */
  fields: Readonly<Partial<Record<SettingName, Need>>>;
  secret: Need | "none";
  /** Whether only an operator may set it up. */
  isForOperators?: boolean;
  /** Where programs send files; without it the program is called. */
  server?: DropAddress | undefined;
  /** Errors: AppError invalid, for a setting of a wrong shape; addresses are checked before. */
  checkSettings?(settings: SourceSettings, refuse: RefuseSetting): void;
  /** Fetches the roster into a file of `tools`. Errors: SourceError; any other error is our fault and is logged. */
  read(from: SourceContext, tools: SourceTools): Promise<RosterFile | Unchanged>;
};

export type SourceContext = {
  settings: SourceSettings;
  secret: string | null;
  /** At least one. */
  schools: readonly SourceSchool[];
  /** What `RosterFile.validator` was at the last run that read the file; null if it has to be read whole. */
  validator: string | null;
};

export type SourceTools = {
  requests: SourceRequests;
  /** Aborts at the time limit of the run, and when the service stops. */
  signal: AbortSignal;
  limits: SourceLimits;
  now: Date;
  /** A path for a new file, which is removed after the run. */
  makeFile(): string;
};

export type RosterFile = {
  path: string;
  /** Without personal data; shown with the import. */
  fileName: string;
  format: ImportFormat;
  mode?: ImportMode;
  people?: ImportPeople;
  /** Says at the next run whether the file has changed, such as its ETag. */
  validator?: string;
};

/** The school of a connection that a source names; `sourceSchool` is how the source names the only one. */
export function findNamedSchool(
  names: readonly unknown[],
  schools: readonly SourceSchool[],
  sourceSchool: string | undefined,
): SourceSchool | undefined {
  if (sourceSchool !== undefined) return names.includes(sourceSchool) ? schools[0] : undefined;
  return schools.find(({ id, officialId }) => names.includes(officialId) || names.includes(id));
}

/** A client id is that of a token address. */
export function checkClient({ tokenAddress, clientId }: SourceSettings, refuse: RefuseSetting): void {
  if ((tokenAddress === undefined) !== (clientId === undefined))
    throw refuse("roster_setting_missing", "clientId", "and tokenAddress are given together");
}

/** The source says that nothing has changed since `validator`. */
export type Unchanged = "unchanged";
