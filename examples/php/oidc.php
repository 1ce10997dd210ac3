<?php
// Settings, HTTP, and what OpenID Connect asks an app to verify. PHP's own curl and openssl, no packages.
declare(strict_types=1);

const BACKCHANNEL_LOGOUT = 'http://schemas.openid.net/event/backchannel-logout';

function setting(string $name, ?string $default = null): string
{
    $value = getenv($name);
    return $value !== false ? $value : $default ?? throw new RuntimeException("$name is missing");
}

define('ISSUER', setting('ISSUER', 'http://localhost:3000'));
define('CLIENT_ID', setting('CLIENT_ID', 'demo-lernapp'));
define('CLIENT_SECRET', setting('CLIENT_SECRET'));
define('WEBHOOK_SECRETS', array_filter(explode(' ', setting('WEBHOOK_SECRETS', ''))));
define('APP_URL', setting('APP_URL', 'http://127.0.0.1:' . setting('PORT', '4000')));
// Outside the folder of the programs, of which a web server could hand out every file.
define('DATABASE', setting('DATABASE', dirname(__DIR__) . '/copy.json'));
umask(0077);

/** Asks once. Returns [status, decoded body, seconds of Retry-After]. */
function http(string $url, array $options = []): array
{
    $retryAfter = 1;
    $curl = curl_init($url);
    curl_setopt_array($curl, $options + [
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 300,
        CURLOPT_HEADERFUNCTION => function ($_, string $line) use (&$retryAfter): int {
            if (preg_match('/^retry-after: (\d+)/i', $line, $found)) $retryAfter = (int) $found[1];
            return strlen($line);
        },
    ]);
    $body = curl_exec($curl);
    if ($body === false) throw new RuntimeException("$url: " . curl_error($curl));
    return [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), json_decode($body, true), $retryAfter];
}

function discover(): array
{
    static $metadata;
    $metadata ??= http(ISSUER . '/.well-known/openid-configuration')[1];
    if (($metadata['issuer'] ?? null) !== ISSUER) throw new RuntimeException('This is another issuer.');
    return $metadata;
}

/** Sends a form to the token endpoint, as the app. */
function askForToken(array $form): array
{
    [$status, $body] = http(discover()['token_endpoint'], [
        CURLOPT_POSTFIELDS => http_build_query($form),
        CURLOPT_USERPWD => urlencode(CLIENT_ID) . ':' . urlencode(CLIENT_SECRET),
    ]);
    if ($status !== 200) throw new RuntimeException('No token: ' . ($body['error'] ?? $status));
    return $body;
}

/** The claims of an ID token or a logout token of the issuer for this app; throws for every other one. */
function verifyToken(string $token): array
{
    $parts = explode('.', $token);
    if (count($parts) !== 3) throw new RuntimeException('This is no token.');
    [$header, $claims] = [json_decode(decodeUrl($parts[0]), true), json_decode(decodeUrl($parts[1]), true)];
    // The app says which algorithm there is, and not the token.
    if (($header['alg'] ?? null) !== 'RS256') throw new RuntimeException('The algorithm is another one.');
    $keys = http(discover()['jwks_uri'])[1]['keys'];
    $key = current(array_filter($keys, fn ($one) => $one['kid'] === ($header['kid'] ?? null) && $one['kty'] === 'RSA'));
    $isSigned = $key && openssl_verify("$parts[0].$parts[1]", decodeUrl($parts[2]), makePem($key), OPENSSL_ALGO_SHA256) === 1;
    $isOurs = ($claims['iss'] ?? null) === ISSUER && (array) ($claims['aud'] ?? []) === [CLIENT_ID];
    $now = time();
    $isNow = ($claims['exp'] ?? 0) > $now - 60 && ($claims['iat'] ?? INF) < $now + 60;
    if (!$isSigned || !$isOurs || !$isNow) throw new RuntimeException('The signature, iss, aud, exp or iat is wrong.');
    return ['typ' => $header['typ'] ?? null] + $claims;
}

function encodeUrl(string $bytes): string
{
    return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
}

function decodeUrl(string $text): string
{
    return (string) base64_decode(strtr($text, '-_', '+/'), true);
}

/** An RSA key of a key set as openssl reads it (RFC 8017, appendix A.1.1). */
function makePem(array $jwk): string
{
    $der = function (int $tag, string $body): string {
        $bytes = ltrim(pack('N', strlen($body)), "\0");
        return chr($tag) . (strlen($body) < 128 ? $bytes : chr(0x80 | strlen($bytes)) . $bytes) . $body;
    };
    $integer = fn (string $text) => $der(2, "\0" . decodeUrl($text));
    $key = $der(0x30, $integer($jwk['n']) . $integer($jwk['e']));
    $info = $der(0x30, hex2bin('300d06092a864886f70d0101010500') . $der(3, "\0" . $key));
    return "-----BEGIN PUBLIC KEY-----\n" . chunk_split(base64_encode($info), 64, "\n") . "-----END PUBLIC KEY-----\n";
}
