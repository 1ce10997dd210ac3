<?php
// A copy, in a JSON file, of what schools share with this app. follow.php writes it, app.php reads it.
declare(strict_types=1);

/** The place in the change feed is too old. */
final class CursorExpired extends RuntimeException {}

/** Returns ['after' => place in the change feed or null, 'records' => ['<type> <id>' => record]]. */
function readCopy(): array
{
    $text = @file_get_contents(DATABASE);
    return $text === false ? ['after' => null, 'records' => []] : json_decode($text, true, 512, JSON_THROW_ON_ERROR);
}

/** Replaces the file at once, so that the records and the place in the feed always belong together. */
function writeCopy(array $copy): void
{
    $isWritten = file_put_contents(DATABASE . '.new', json_encode($copy, JSON_THROW_ON_ERROR));
    if ($isWritten === false || !rename(DATABASE . '.new', DATABASE)) throw new RuntimeException('The copy was not written.');
}

/** Reads everything the first time, then what changed, and everything again after too long an absence. */
function follow(): void
{
    $copy = readCopy();
    try {
        if ($copy['after'] !== null) {
            readChanges($copy);
            return;
        }
    } catch (CursorExpired) {
    }
    readEverything($copy['records']);
}

/** Each record is read once, however often it changed; everything, if so much changed that this is faster. */
function readChanges(array $copy): void
{
    $changed = [];
    do {
        $page = get('/changes', ['after' => $copy['after'], 'limit' => 1000]);
        foreach ($page['changes'] as $change) {
            $type = $change['type'];
            $isGone = $change['action'] === 'delete' && !isset($change['updatedProperties']);
            $changed["$type {$change["{$type}Id"]}"] = [$type, $change["{$type}Id"], $isGone];
        }
        $copy['after'] = $page['next'];
    } while ($page['more']);
    if (count(array_filter($changed, fn ($one) => !$one[2])) > 500) {
        readEverything($copy['records']);
        return;
    }
    foreach ($changed as $key => [$type, $id, $isGone]) { // What the API does not show is gone for this app too.
        $record = $isGone ? null : readRecord($type, $id);
        if ($record === null) unset($copy['records'][$key]);
        else $copy['records'][$key] = $record;
    }
    writeCopy($copy);
}

function readEverything(array $known): void
{
    $after = get('/changes')['next']; // First, so that what changes meanwhile is behind it.
    $records = [];
    $keep = function (array $record) use (&$records): void {
        $records["$record[type] $record[id]"] ??= $record;
    };
    foreach (get('/schools') as $school) {
        $keep(makeRecord('school', $school));
        $path = "/schools/$school[id]";
        foreach (get("$path/groups") ?? [] as $group) $keep(makeRecord('group', $group));
        foreach (get("$path/people", ['show-deleted' => 'true']) ?? [] as $person) $keep(makeRecord('person', $person));
        foreach (get("$path/users") ?? [] as $user) $keep(makeRecord('person', $user));
    }
    foreach ($known as $key => ['type' => $type, 'id' => $id]) { // Users of schools that do not sync are in no list.
        if ($type === 'person' && !isset($records[$key])) {
            $record = readRecord($type, $id);
            if ($record !== null) $keep($record);
        }
    }
    writeCopy(['after' => $after, 'records' => $records]);
}

/** Somebody is a person, whom a school syncs, or a user, who may sign in, or both; soft-deleted or not. */
function readRecord(string $type, string $id): ?array
{
    if ($type === 'person') $body = get("/people/$id", ['show-deleted' => 'true']) ?? get("/users/$id");
    else $body = get("/{$type}s/$id");
    return $body === null ? null : makeRecord($type, $body);
}

function makeRecord(string $type, array $body): array
{
    $record = ['type' => $type, 'id' => $body['id'], 'name' => $body['name']];
    if ($type !== 'person') return $record;
    $groups = array_column($body['groups'], 'id');
    return $record + ['role' => $body['role'], 'groups' => $groups, 'status' => $body['status'] ?? 'ACTIVE'];
}

/** The answer; null where there is none for this app. */
function get(string $path, array $query = []): ?array
{
    static $token = null;
    $url = ISSUER . "/idm/ep/v1$path" . ($query ? '?' . http_build_query($query) : '');
    for ($attempt = 0; $attempt < 5; $attempt++) {
        $token ??= fetchToken();
        [$status, $body, $retryAfter] = http($url, [CURLOPT_HTTPHEADER => ["Authorization: Bearer $token"]]);
        if ($status === 401) $token = null; // It has ended.
        elseif ($status === 429 || $status === 503) sleep(min($retryAfter, 60));
        else break;
    }
    if ($status === 410) throw new CursorExpired($path);
    if ($status === 404 && str_ends_with($body['code'] ?? '', '_not_found')) return null;
    if ($status !== 200) throw new RuntimeException("$path: $status");
    return $body;
}

function fetchToken(): string
{
    $scopes = array_map(fn ($kind) => "urn:schultor:idm:v1:$kind:read", ['schools', 'users', 'groups', 'people']);
    return askForToken(['grant_type' => 'client_credentials', 'scope' => implode(' ', $scopes)])['access_token'];
}
