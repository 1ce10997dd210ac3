import { makeFolder } from "./folder.ts";
import { httpsFile } from "./https-file.ts";
import { oneRoster } from "./one-roster.ts";
import { schulconnex } from "./schulconnex.ts";
import type { RosterSource } from "./source.ts";

export type SourceKind = "ONEROSTER" | "SCHULCONNEX" | "HTTPS_FILE" | "FOLDER";
/** Those that this service offers. */
export type Sources = Readonly<Partial<Record<SourceKind, RosterSource>>>;

/** `rosterFolder` is the only folder that files are read from; without it none are. */
export const makeSources = ({ rosterFolder }: { rosterFolder?: string | undefined }): Sources => ({
  ONEROSTER: oneRoster,
  SCHULCONNEX: schulconnex,
  HTTPS_FILE: httpsFile,
  ...(rosterFolder !== undefined && { FOLDER: makeFolder(rosterFolder) }),
});
