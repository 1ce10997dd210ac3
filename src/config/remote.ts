export type RemoteSettings = {
  configFolder: string | undefined;
  remote: string | undefined;
  /** For `remote login`. */
  clientSecret: string | undefined;
};

/** Source: XDG Base Directory Specification. */
export function readRemoteSettings(env: NodeJS.ProcessEnv = process.env): RemoteSettings {
  const given = (name: string) => env[name] || undefined;
  const [own, home] = [given("XDG_CONFIG_HOME"), given("HOME")];
  return {
    configFolder: own ?? (home && `${home}/.config`),
    remote: given("SCHULTOR_REMOTE"),
    clientSecret: given("SCHULTOR_CLIENT_SECRET"),
  };
}
