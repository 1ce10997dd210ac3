export type RemoteSettings = {
  configFolder: string | undefined;
  remote: string | undefined;
  /** For `remote login`. */
  clientSecret: string | undefined;
};

/** Source: XDG Base Directory Specification. */
export function readRemoteSettings(env: NodeJS.ProcessEnv = process.env): RemoteSettings {
  const read = (name: string) => env[name] || undefined;
  const [own, home] = [read("XDG_CONFIG_HOME"), read("HOME")];
  return {
    configFolder: own ?? (home && `${home}/.config`),
    remote: read("SCHULTOR_REMOTE"),
    clientSecret: read("SCHULTOR_CLIENT_SECRET"),
  };
}
