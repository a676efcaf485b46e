import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { arkLimits } from '../../plugins/upstream-proxy/index.ts'
import { readAdminConfig } from '../../src/config/database.ts'
import type { Environment } from '../../src/config/environment/reader.ts'
import { type Config, readConfig } from '../../src/config.ts'

const valid = (env: Environment): Config => {
  const config = readConfig(env)
  if ('problems' in config) throw new Error(config.problems.join('\n'))
  return config
}
const problemsOf = (env: Environment): readonly string[] => {
  const config = readConfig(env)
  return 'problems' in config ? config.problems : []
}

describe('config', () => {
  test('an empty environment has the documented defaults', () => {
    expect(valid({})).toEqual({
      http: {
        host: '127.0.0.1',
        port: 3000,
        publicUrl: undefined,
        getBodies: true,
        maxBodyBytes: 67_108_864,
        maxVideoBodyBytes: 50_331_648,
        maxSmallBodyBytes: 1_048_576,
        drainGraceMs: 5_000,
        drainMs: 210_000,
        workers: 1,
        trustedProxies: [],
        corsOrigins: [],
      },
      limits: {
        maxRequests: 4_096,
        maxStreams: 16_384,
        maxUnreadBodyBytes: 536_870_912,
        user: { maxRequests: 128, maxStreams: 64, maxUnreadBodyBytes: 134_217_728 },
      },
      ...{ usageLimits: { accountLimits: [], userLimits: [], timeZone: 'UTC' }, login: { password: true } },
      people: {
        maxTokens: 100,
        maxSessions: 20,
        maxFaceChecks: 5,
        maxStoredResponseBytes: 67_108_864,
        maxUploads: 100,
        maxUploadBytes: 2_147_483_648,
      },
      audit: { keepMs: 90 * 86_400_000, keys: [] },
      store: { url: 'sqlite:data/sluice.db', deadlineMs: 3_000 },
      media: { segment: 'media', upstream: undefined, timeoutMs: 30_000, limits: {}, queueMs: 5_000 },
      face: { taskMs: 1_800_000 },
      ...{ events: { keepMs: 7 * 86_400_000, webhookNetworks: [] }, usage: { keepMs: undefined } },
      text: {
        upstreams: [],
        timeoutMs: 200_000,
        defaultMaxTokens: 4_096,
        objectTtlMs: 30 * 86_400_000,
        allowedFields: [],
        presetAssets: [],
      },
      storage: { kind: 'folder', path: 'data/storage' },
      uploads: { keepMs: 86_400_000 },
      results: { keepMs: 30 * 86_400_000 },
      video: {
        ...{ maxPriority: 0, modelAliases: {}, presetAssets: [], keepMs: 7_776_000_000 },
        ...{ pollMs: 3_000, maxRunningMs: 10_800_000, settleMs: 60_000, createTimeoutMs: 60_000 },
      },
      sessionSecrets: [],
      ...{ metricsToken: undefined, mcp: { confirmAbove: 5 } },
      files: [],
      logLevel: 'info',
      secrets: [],
    })
  })

  test('every variable is read', () => {
    const userLimits = {
      ...{ waitingPerUser: 50, waitingBytesPerUser: 1_000_000, runningPerUser: 2 },
      weightOf: expect.any(Function),
    }
    expect(
      valid({
        HOST: '::1',
        PORT: '0',
        PUBLIC_URL: 'https://sluice.example/',
        DATABASE_URL: 'postgres://user:pass%2Fword@db.example:5432/sluice?sslmode=require',
        WORKERS: '4',
        GET_BODIES: 'off',
        MEDIA_SEGMENT: 'seed-2',
        MEDIA_UPSTREAM_KIND: 'rest',
        MEDIA_UPSTREAM_URL: 'https://u.example/api/media/proxy/',
        MEDIA_UPSTREAM_KEY: 'upstream-key',
        MEDIA_UPSTREAM_LIMITS: '{"ListAssets":10,"GetAsset":0.5}',
        MEDIA_UPSTREAM_TIMEOUT_SECONDS: '0.25',
        ...{ DATABASE_TIMEOUT_SECONDS: '0.5', UPSTREAM_QUEUE_SECONDS: '0', FACE_TASK_SECONDS: '60' },
        ...{ EVENT_DAYS: '3', USAGE_DAYS: '400' },
        WEBHOOK_NETWORKS: '10.1.0.0/16',
        TEXT_UPSTREAM_URL: 'http://127.0.0.1:9/v1/',
        TEXT_UPSTREAM_KEY: 'text-key',
        TEXT_TIMEOUT_SECONDS: '1',
        TEXT_DEFAULT_MAX_TOKENS: '0',
        TEXT_HEARTBEAT_SECONDS: '15',
        SESSION_SECRET: 'one-one-one-one-one, two-two-two-two-two',
        TEXT_OBJECT_DAYS: '7',
        TEXT_ALLOWED_FIELDS: 'file_id, vector_store_ids,file_id',
        TEXT_PRESET_ASSETS: 'asset-preset-1,asset-preset-2',
        VIDEO_UPSTREAM_URL: 'http://127.0.0.1:9/api/v3/',
        VIDEO_UPSTREAM_KEY: 'video-key',
        VIDEO_SLOTS: '{"*":3,"ep-1":10}',
        VIDEO_USER_MAX_RUNNING: '2',
        VIDEO_USER_MAX_WAITING: '50',
        VIDEO_USER_MAX_WAITING_BYTES: '1000000',
        VIDEO_USER_WEIGHTS: '{"u-1":2}',
        VIDEO_MAX_PRIORITY: '4',
        VIDEO_PRESET_ASSETS: 'asset-preset-3',
        VIDEO_MODEL_ALIASES: '{"sora-2":"ep-1"}',
        VIDEO_POLL_SECONDS: '5',
        VIDEO_RUNNING_HOURS: '1.5',
        VIDEO_SETTLE_SECONDS: '90',
        VIDEO_TASK_DAYS: '30',
        VIDEO_CREATE_TIMEOUT_SECONDS: '20',
        TEXT_PRICES: '{"m":{"input":3,"output":15},"*":{"request":0.01}}',
        MAX_BODY_BYTES: '1024',
        MAX_SMALL_BODY_BYTES: '512',
        TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,2001:db8::/32',
        CORS_ORIGINS: 'https://app.example, http://localhost:5173',
        MAX_REQUESTS: '1',
        MAX_STREAMS: '2',
        MAX_UNREAD_BODY_BYTES: '3',
        USER_MAX_REQUESTS: '4',
        USER_MAX_STREAMS: '5',
        USER_MAX_UNREAD_BODY_BYTES: '6',
        USER_MAX_TOKENS: '7',
        USER_MAX_SESSIONS: '8',
        USER_MAX_FACE_CHECKS: '9',
        USER_MAX_STORED_RESPONSE_BYTES: '10',
        USER_MAX_UPLOADS: '11',
        USER_MAX_UPLOAD_BYTES: '12',
        STORAGE_URL: 's3://the-bucket/some/prefix?endpoint=http://127.0.0.1:9000&region=cn-beijing&style=host',
        ...{ STORAGE_ACCESS_KEY: 'storage-access-key', STORAGE_SECRET_KEY: 'storage-secret-key' },
        STORAGE_TIMEOUT_SECONDS: '2.5',
        UPLOAD_HOURS: '2',
        RESULT_DAYS: '5',
        AUDIT_DAYS: '0',
        AUDIT_KEY: 'three-three-three, four-four-four-four',
        DRAIN_GRACE_SECONDS: '0.5',
        DRAIN_SECONDS: '0',
        METRICS_TOKEN: 'metrics-token',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318/',
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20one-one, x-tenant=1',
        OTEL_SERVICE_NAME: 'the-gateway',
        MCP_CONFIRM_ABOVE: '2.5',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
        LOG_LEVEL: 'silent',
      }),
    ).toEqual({
      http: {
        host: '::1',
        port: 0,
        publicUrl: 'https://sluice.example',
        getBodies: false,
        maxBodyBytes: 1024,
        maxVideoBodyBytes: 1024,
        maxSmallBodyBytes: 512,
        drainGraceMs: 500,
        drainMs: 0,
        workers: 4,
        trustedProxies: ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'],
        corsOrigins: ['https://app.example', 'http://localhost:5173'],
      },
      limits: {
        maxRequests: 1,
        maxStreams: 2,
        maxUnreadBodyBytes: 3,
        user: { maxRequests: 4, maxStreams: 5, maxUnreadBodyBytes: 6 },
      },
      ...{ usageLimits: { accountLimits: [], userLimits: [], timeZone: 'UTC' }, login: { password: true } },
      people: {
        maxTokens: 7,
        maxSessions: 8,
        maxFaceChecks: 9,
        maxStoredResponseBytes: 10,
        maxUploads: 11,
        maxUploadBytes: 12,
      },
      audit: { keepMs: 0, keys: ['three-three-three', 'four-four-four-four'] },
      store: { url: 'postgres://user:pass%2Fword@db.example:5432/sluice?sslmode=require', deadlineMs: 500 },
      media: {
        segment: 'seed-2',
        upstream: { kind: 'rest', url: 'https://u.example/api/media/proxy', key: 'upstream-key' },
        timeoutMs: 250,
        limits: { ListAssets: 10, GetAsset: 0.5 },
        queueMs: 0,
      },
      face: { taskMs: 60_000 },
      ...{ events: { keepMs: 3 * 86_400_000, webhookNetworks: ['10.1.0.0/16'] }, usage: { keepMs: 400 * 86_400_000 } },
      text: {
        upstreams: [{ url: 'http://127.0.0.1:9/v1', key: 'text-key' }],
        timeoutMs: 1_000,
        defaultMaxTokens: undefined,
        heartbeatMs: 15_000,
        objectTtlMs: 7 * 86_400_000,
        allowedFields: ['file_id', 'vector_store_ids'],
        presetAssets: ['asset-preset-1', 'asset-preset-2'],
        prices: { m: { input: 3, output: 15 }, '*': { request: 0.01 } },
      },
      storage: {
        kind: 's3',
        bucket: 'the-bucket',
        prefix: 'some/prefix/',
        endpoint: 'http://127.0.0.1:9000',
        region: 'cn-beijing',
        style: 'host',
        ...{ accessKey: 'storage-access-key', secretKey: 'storage-secret-key' },
        timeoutMs: 2_500,
      },
      uploads: { keepMs: 7_200_000 },
      results: { keepMs: 5 * 86_400_000 },
      video: {
        upstream: { url: 'http://127.0.0.1:9/api/v3', key: 'video-key' },
        slots: { '*': { running: 3, ...userLimits }, 'ep-1': { running: 10, ...userLimits } },
        maxPriority: 4,
        presetAssets: ['asset-preset-3'],
        modelAliases: { 'sora-2': 'ep-1' },
        ...{ pollMs: 5_000, maxRunningMs: 5_400_000, settleMs: 90_000 },
        ...{ keepMs: 2_592_000_000, createTimeoutMs: 20_000 },
      },
      sessionSecrets: ['one-one-one-one-one', 'two-two-two-two-two'],
      ...{ metricsToken: 'metrics-token', mcp: { confirmAbove: 2.5 } },
      traces: { url: 'http://collector.example:4318/v1/traces', serviceName: 'the-gateway', sampledRatio: 0.25 },
      ...{ files: [], logLevel: 'silent' },
      secrets: [
        ...['upstream-key', 'text-key', 'storage-access-key', 'storage-secret-key', 'video-key', 'metrics-token'],
        ...['one-one-one-one-one', 'two-two-two-two-two', 'three-three-three', 'four-four-four-four'],
        'pass/word',
        'Bearer%20one-one',
        'Bearer one-one',
      ],
    })
  })

  test('prices may be in a file of at most 1 MiB', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-config-'))
    const path = join(folder, 'prices.json')
    const env = { TEXT_PRICES: `@${path}` }
    await Bun.write(path, '{"m":{"input":3}}')
    expect(valid(env).text.prices).toEqual({ m: { input: 3 } })
    await Bun.write(path, `${' '.repeat(1_048_575)}{}`)
    expect(problemsOf(env)).toEqual([expect.stringMatching(/^TEXT_PRICES must be/)])
    await rm(folder, { recursive: true })
  })

  const ark = {
    MEDIA_UPSTREAM_KIND: 'ark',
    MEDIA_UPSTREAM_URL: 'https://ark.example',
    MEDIA_UPSTREAM_ACCESS_KEY: 'access',
    MEDIA_UPSTREAM_SECRET_KEY: 'secret',
  }

  test('an ark upstream has its own defaults and documented rate limits', () => {
    const config = valid(ark)
    expect(config.media.upstream).toEqual({
      kind: 'ark',
      url: 'https://ark.example',
      accessKey: 'access',
      secretKey: 'secret',
      region: 'cn-beijing',
      project: 'default',
    })
    expect(config.media.limits).toEqual(arkLimits)
    expect(config.secrets).toEqual(['access', 'secret'])
    expect(valid({ ...ark, MEDIA_UPSTREAM_LIMITS: '{}' }).media.limits).toEqual({})
    expect(valid({ ...ark, MEDIA_UPSTREAM_REGION: 'ap-1', MEDIA_UPSTREAM_PROJECT: 'p' }).media.upstream).toMatchObject({
      region: 'ap-1',
      project: 'p',
    })
  })

  test('an empty variable counts as unset', () => {
    const names = ['HOST', 'PORT', 'DATABASE_URL', 'MEDIA_UPSTREAM_URL', 'SESSION_SECRET', 'LOG_LEVEL', 'GET_BODIES']
    expect(valid(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(valid({}))
  })

  test('an upstream without credentials is a problem', () => {
    expect(problemsOf({ MEDIA_UPSTREAM_URL: 'http://u.example' })).toEqual([
      'MEDIA_UPSTREAM_KEY is required for a MEDIA_UPSTREAM_URL of kind rest',
    ])
    expect(problemsOf({ ...ark, MEDIA_UPSTREAM_ACCESS_KEY: '', MEDIA_UPSTREAM_SECRET_KEY: undefined })).toEqual([
      'MEDIA_UPSTREAM_ACCESS_KEY is required for a MEDIA_UPSTREAM_URL of kind ark',
      'MEDIA_UPSTREAM_SECRET_KEY is required for a MEDIA_UPSTREAM_URL of kind ark',
    ])
  })

  test('several workers need a database that processes can share', () => {
    expect(problemsOf({ WORKERS: '2', DATABASE_URL: 'sqlite::memory:' })).toEqual([
      'WORKERS above 1 needs a DATABASE_URL that processes can share: a file or a database server',
    ])
    expect(problemsOf({ WORKERS: '1', DATABASE_URL: 'sqlite::memory:' })).toEqual([])
    expect(problemsOf({ WORKERS: '2', DATABASE_URL: 'sqlite:x.db' })).toEqual([])
  })

  test('all problems are reported, one per line', () => {
    const problems = problemsOf({ PORT: 'x', WORKERS: '0', TEXT_UPSTREAM_URL: 'ftp://x/v1', LOG_LEVEL: 'loud' })
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'WORKERS',
      'TEXT_UPSTREAM_URL',
      'PORT',
      'LOG_LEVEL',
    ])
    expect(problems.every((problem) => !problem.includes('\n'))).toBe(true)
  })

  test.each([
    ['HOST', ['a b', 'http://x']],
    ['PORT', ['-1', '65536', '1.5', '1e3', '0x10', ' 80', 'x']],
    ['PUBLIC_URL', ['sluice.example', '/x', 'ftp://x', 'https://user@x', 'https://x/?a', 'https://x/#a', 'https://']],
    ['DATABASE_URL', ['sqlite:', 'mysql://x/y', 'data/x.db', 'postgres://']],
    ['DATABASE_TIMEOUT_SECONDS', ['0', '-1', '86401', '3s']],
    ['WORKERS', ['0', '257', '1.5', 'many']],
    ['GET_BODIES', ['yes', 'ON']],
    ['MEDIA_SEGMENT', ['a/b', 'A', '..', 'a b']],
    ['MEDIA_UPSTREAM_KIND', ['REST', 'vertex']],
    ['MEDIA_UPSTREAM_URL', ['u.example', 'https://u:p@x']],
    ['MEDIA_UPSTREAM_KEY', ['a b', 'a\nb', 'ключ']],
    ['MEDIA_UPSTREAM_LIMITS', ['x', '[]', 'null', '1', '{"a":0}', '{"a":-1}', '{"a":"1"}', '{"a":1e999}']],
    ['MEDIA_UPSTREAM_TIMEOUT_SECONDS', ['0', '-1', '86401', '1s', '0.0001']],
    ['UPSTREAM_QUEUE_SECONDS', ['-1', 'x', '1e1']],
    ['FACE_TASK_SECONDS', ['0', 'x']],
    ['TEXT_UPSTREAM_URL', ['x/v1', 'ftp://x/v1', 'https://u:p@x/v1', 'https://x/v1?a=b', 'https://x/v1#a']],
    ['TEXT_TIMEOUT_SECONDS', ['0', 'x']],
    ['TEXT_DEFAULT_MAX_TOKENS', ['-1', '1.5', 'x']],
    ['TEXT_HEARTBEAT_SECONDS', ['-1', 'x']],
    ['AUDIT_KEY', ['short', 'long-enough-for-a-key,short']],
    ['SESSION_SECRET', ['short', 'long-enough-for-a-secret,short', 'long-enough-for-a-secret,']],
    ['MAX_BODY_BYTES', ['0', '2147483648', '64MB']],
    ['MAX_VIDEO_BODY_BYTES', ['0', '64MB']],
    ['MAX_SMALL_BODY_BYTES', ['0', '1.5', '1MB']],
    ['MAX_REQUESTS', ['0', '-1', 'x']],
    ['USER_MAX_STREAMS', ['0', '1e3']],
    ['USER_MAX_TOKENS', ['0', 'x']],
    ['USER_MAX_STORED_RESPONSE_BYTES', ['-1', '1e3']],
    ['TRUSTED_PROXIES', ['localhost', '10.0.0.0/33', '::1/129', '1.2.3', '10.0.0.1/', '10.0.0.1;10.0.0.2']],
    ['CORS_ORIGINS', ['*', 'app.example', 'https://app.example/', 'https://*.example', 'https://u@x', 'null']],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', ['collector:4318', 'http://u:p@x']],
    ['OTEL_EXPORTER_OTLP_HEADERS', ['authorization', 'a b=c', 'a=b,']],
    ['MCP', ['yes']],
    ['MCP_CONFIRM_ABOVE', ['-1', '1e3', '5.', 'none']],
    ['OTEL_TRACES_SAMPLER_ARG', ['2', '-0.1', '1.1', 'always_on']],
    ['AUDIT_DAYS', ['-1', '1.5', '36501']],
    ['TEXT_OBJECT_DAYS', ['0', 'x']],
    ['TEXT_ALLOWED_FIELDS', ['file id', 'a/b']],
    ['TEXT_PRESET_ASSETS', ['asset://x', 'a b']],
    [
      'TEXT_PRICES',
      ['free', '[]', '{"m":3}', '{"m":{"price":1}}', '{"m":{"input":-1}}', '@/no/such/file', `@${import.meta.path}`],
    ],
    ['VIDEO_UPSTREAM_KEY', ['a b']],
    ['VIDEO_SLOTS', ['3', '[]', '{}', '{"m":"3"}', '{"m":-1}', '{"m":1.5}']],
    ['VIDEO_USER_MAX_RUNNING', ['0', 'x']],
    ['VIDEO_USER_MAX_WAITING', ['0', 'x']],
    ['VIDEO_USER_MAX_WAITING_BYTES', ['0', 'x']],
    ['VIDEO_USER_WEIGHTS', ['{}', '{"u":0}', '{"u":"1"}', '{"u":1001}']],
    ['VIDEO_MAX_PRIORITY', ['-1', '10']],
    ['VIDEO_PRESET_ASSETS', ['asset://x']],
    ['VIDEO_MODEL_ALIASES', ['sora-2', '[]', 'null', '{"a":1}', '{"a":""}']],
    ['VIDEO_POLL_SECONDS', ['0', 'x']],
    ['VIDEO_RUNNING_HOURS', ['0', '0.0001', '8761', '-1', 'x']],
    ['VIDEO_SETTLE_SECONDS', ['0', 'x']],
    ['VIDEO_TASK_DAYS', ['0', '1.5', 'x']],
    ['VIDEO_CREATE_TIMEOUT_SECONDS', ['0', 'x']],
    ['DRAIN_GRACE_SECONDS', ['-1', '90000', 'x']],
    ['DRAIN_SECONDS', ['-1', '90000', 'x']],
    ['METRICS_TOKEN', ['a b c d e f', 'éééééééé', 'x', '1234567']],
    ['LOG_LEVEL', ['loud', 'INFO']],
  ] as const)('%s is validated, and its value is never quoted', (name, values) => {
    for (const value of values) {
      const problems = problemsOf({ MEDIA_UPSTREAM_KEY: 'k', [name]: value })
      expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name} must be .*[^.]$`))])
    }
  })

  test('the admin commands read the address and the timeout of the database, AUDIT_DAYS and AUDIT_KEY, and nothing else', () => {
    expect(readAdminConfig({ PORT: 'x' })).toEqual({
      store: { url: 'sqlite:data/sluice.db', deadlineMs: 3_000 },
      audit: { keepMs: 90 * 86_400_000, keys: [] },
    })
    const database = { DATABASE_URL: 'sqlite:x.db', DATABASE_TIMEOUT_SECONDS: '7' }
    expect(readAdminConfig({ ...database, AUDIT_DAYS: '0', AUDIT_KEY: 'k'.repeat(16) })).toEqual({
      store: { url: 'sqlite:x.db', deadlineMs: 7_000 },
      audit: { keepMs: 0, keys: ['k'.repeat(16)] },
    })
    expect(readAdminConfig({ DATABASE_URL: 'x', AUDIT_DAYS: 'y' })).toEqual({
      problems: [expect.stringContaining('DATABASE_URL must be'), expect.stringContaining('AUDIT_DAYS must be')],
    })
  })
})
