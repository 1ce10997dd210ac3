import { makeFolder } from "./folder.ts";
import { httpsFile } from "./https-file.ts";
import { oneRoster } from "./one-roster.ts";
import { kelvin } from "./kelvin.ts";
import { schulconnex } from "./schulconnex.ts";
import { sftp } from "./sftp.ts";
import type { DropAddress, RosterSource } from "./source.ts";
import { svws } from "./svws.ts";

export type SourceKind = "ONEROSTER" | "SCHULCONNEX" | "HTTPS_FILE" | "FOLDER" | "SVWS" | "KELVIN" | "SFTP";
/** The sources that this service offers. */
export type Sources = Readonly<Partial<Record<SourceKind, RosterSource>>>;

type Configured = { rosterFolder?: string | undefined; sftpPort?: number | undefined };

/** `rosterFolder` is the only folder that files are read from; without it none are. Only a service has a `server`. */
export const makeSources = ({ rosterFolder, sftpPort }: Configured, server?: DropAddress): Sources => ({
  ONEROSTER: oneRoster,
  SCHULCONNEX: schulconnex,
  HTTPS_FILE: httpsFile,
  SVWS: svws,
  KELVIN: kelvin,
  ...(rosterFolder !== undefined && { FOLDER: makeFolder(rosterFolder) }),
  ...(sftpPort !== undefined && { SFTP: { ...sftp, server } }),
});
