<?php
// Does with the generated PHP clients what it is told on standard input, and prints JSON.
// driver.php <clients> run: makes the calls of a scenario. driver.php <clients> types: tells the types of the models.

declare(strict_types=1);
error_reporting(E_ALL & ~E_DEPRECATED);
set_error_handler(static function (int $level, string $message) {
    if (error_reporting() & $level) throw new ErrorException($message);
});

require 'GuzzleHttp/autoload.php';
[, $clients, $mode] = $argv;
$told = json_decode(stream_get_contents(STDIN), true, flags: JSON_THROW_ON_ERROR);

function spaceOf(string $bundle): string
{
    return 'Schultor\\' . str_replace(' ', '', ucwords(preg_replace('/[^a-z0-9]+/', ' ', $bundle)));
}

function snake(string $name): string
{
    return strtolower(str_replace('-', '_', preg_replace('/([a-z\d])([A-Z])/', '$1_$2', $name)));
}

spl_autoload_register(static function (string $class) use ($clients): void {
    foreach (scandir($clients) as $bundle) {
        $space = spaceOf($bundle) . '\\';
        $file = "$clients/$bundle/lib/" . str_replace('\\', '/', substr($class, strlen($space))) . '.php';
        if (str_starts_with($class, $space) && file_exists($file)) require_once $file;
    }
});

function call(array $step, string $url, array &$access): array
{
    $space = spaceOf($step['bundle']);
    $configuration = new ("$space\\Configuration")();
    $configuration->setHost($url);
    // Otherwise booleans are written as 0 and 1, which the service refuses. Only the default configuration is asked.
    $configuration::getDefaultConfiguration()->setBooleanFormatForQueryString($configuration::BOOLEAN_FORMAT_STRING);
    foreach ($access[$step['as']] as $name => $value) $configuration->{'set' . ucfirst($name)}($value);
    $api = new ("$space\\Api\\{$step['api']}")(null, $configuration);
    $parameters = [];
    foreach ($step['parameters'] as $name => $value) $parameters[snake($name)] = $value;
    try {
        $value = $api->{$step['operation']}(...$parameters);
    } catch (Exception $refused) {
        if (!is_a($refused, "$space\\ApiException")) throw $refused;
        $type = (new ReflectionClass($refused))->getShortName();
        return ['error' => ['status' => $refused->getCode(), 'type' => $type, 'body' => $refused->getResponseObject()]];
    }
    if (isset($step['keep'])) $access[$step['keep']] = ['accessToken' => $value->getAccessToken()];
    return ['value' => $value];
}

/** What a model says of one of its own fields. */
function look(string $model, string $field): array
{
    $type = $model::openAPITypes()[$field];
    $list = str_ends_with($type, '[]');
    $one = $list ? substr($type, 0, -2) : $type;
    $constants = array_filter((new ReflectionClass($model))->getConstants(), is_string(...));
    $getter = 'get' . str_replace('_', '', ucwords($field, '_')) . 'AllowableValues';
    $allowed = method_exists($model, $getter) ? (new $model())->$getter() : [];
    $enum = $allowed !== [] && array_diff($allowed, $constants) === [];
    $format = $model::openAPIFormats()[$field];
    $text = $one === 'string' ? 'text' : 'other';
    $kind = $enum ? 'enum' : ($one === '\DateTime' || $format === 'uuid' ? $format : $text);
    $nullable = $model::isNullable($field);
    return ['kind' => $kind, 'list' => $list, 'nullable' => $nullable, 'values' => $allowed];
}

function models(string $clients, string $bundle): array
{
    $models = [];
    foreach (glob("$clients/$bundle/lib/Model/*.php") as $file) {
        $name = basename($file, '.php');
        $model = spaceOf($bundle) . "\\Model\\$name";
        if ($name === 'ModelInterface' || !method_exists($model, 'openAPITypes')) continue;
        foreach ($model::attributeMap() as $field => $inJson) $models[$name][$inJson] = look($model, $field);
    }
    return $models;
}

$done = [];
if ($mode === 'run') foreach ($told['steps'] as $step) $done[] = call($step, $told['url'], $told['access']);
if ($mode === 'types') foreach ($told['bundles'] as $bundle) $done[$bundle] = models($clients, $bundle);
echo json_encode($done, JSON_THROW_ON_ERROR);
