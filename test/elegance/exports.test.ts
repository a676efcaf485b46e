import { describe, expect, test } from 'bun:test'
import { doors } from './sources.ts'

/** The sorted exports of each subpath. A change here is a change of the public API. */
const surface: Readonly<Record<string, readonly string[]>> = {
  '.': [
    'Problem',
    'assetLibrary',
    'createAudit',
    'createNodeServer',
    'currentRequestId',
    'gateway',
    'problemBody',
    'renderProblems',
    'withRequestIds',
  ],
  './shared': [
    'Background',
    'Problem',
    'RevisionClock',
    'noAudit',
    'noLog',
    'problemBody',
    'renderProblems',
    'requireIdentity',
    'requireSameOrigin',
    'systemClock',
  ],
  './admin': ['admin'],
  './account': ['account', 'usageRoutes'],
  './metrics': ['createMetrics', 'metrics', 'readSnapshot'],
  './store': ['StoreError', 'openStore'],
  './emulator': ['documentedLimits', 'hostileHeaders', 'outcomeByPrompt', 'outcomeByUrl', 'startEmulator'],
  './api-token': [
    'RevisionClock',
    'apiToken',
    'consoleTokens',
    'createToken',
    'hashToken',
    'identifyByToken',
    'requireScope',
  ],
  './concurrency-limits': ['concurrencyLimits', 'inFlightOf'],
  './console': ['consolePages'],
  './events': ['createTargetRules', 'events', 'targetProblem'],
  './face-verification': ['faceVerification', 'isEnded', 'statusPathTo', 'verificationStatuses'],
  './idempotency': ['IdempotencyProblem', 'createIdempotency', 'replayedHeader'],
  './file-storage': [
    'FileTooLargeError',
    'createFileLinks',
    'createResultStorage',
    'fileStorage',
    'folderStorage',
    'maxUploadBodyBytes',
    'respondWithFile',
    's3Storage',
  ],
  './video-generation': [
    'VideoProblem',
    'adoptVideoTask',
    'createVideoService',
    'openaiVideos',
    'releaseVideoTask',
    'videoGeneration',
    'videoProblemBody',
  ],
  './oidc-login': ['oidcLogin'],
  './web-session': [
    'beginSession',
    'hashInvitation',
    'hashPassword',
    'identifyBySession',
    'ownAccount',
    'requireSameOrigin',
    'verifyPassword',
    'webSession',
  ],
  './ownership': ['RevisionClock', 'withClaim', 'createOwnership', 'ownership', 'reconcile', 'reconcileRegularly'],
  './pagination-normalizer': [
    'comparePositions',
    'createCursors',
    'Ordered',
    'cutPage',
    'attachBody',
    'instantKey',
    'instantKeyOf',
    'instantOf',
    'listPage',
    'paginationNormalizer',
    'readListRequest',
    'WalkCache',
    'ListChangedError',
  ],
  './sse-relay': [
    'EventTooLargeError',
    'errorResponse',
    'createFrameSplitter',
    'readErrorEvent',
    'errorStatus',
    'readFirstEvent',
    'openStream',
    'parseEvent',
    'readFrames',
    'relayFrames',
    'relaySource',
    'responseHeaders',
    'sseRelay',
    'streamHeaders',
  ],
  './text-generation': [
    'StreamError',
    'TextProblem',
    'createChatAssembly',
    'createResponsesAssembly',
    'messagesProblemBody',
    'readTokens',
    'textGeneration',
    'textProblemBody',
  ],
  './tracing': ['createTracing', 'tracing'],
  './usage-limits': ['LimitProblem', 'firstStep', 'grantOf', 'limitRoutes', 'parseLimits', 'stepOf', 'usageLimits'],
  './upstream-proxy': [
    'UpstreamInvalidError',
    'UpstreamRejectedError',
    'UpstreamUnreachableError',
    'UpstreamBusyError',
    'callerOf',
    'maxQueueMs',
    'memoryRateLimitStore',
    'ark',
    'arkAuthorization',
    'arkDate',
    'arkLimits',
    'createUpstream',
    'describeGroups',
    'findGroups',
    'groupBatches',
    'maxGroupsPerCall',
    'itemsOf',
    'requestHeaders',
    'responseHeaders',
    'rest',
    'toResponse',
    'upstreamProxy',
  ],
}

describe('the public API', () => {
  for (const [subpath, names] of Object.entries(surface)) {
    const file = doors().get(subpath)
    test(`${subpath} exports exactly these names`, async () => {
      expect(Object.keys(await import(file ?? '')).sort()).toEqual([...names].sort())
    })
  }

  test('every subpath leads to an entry file', () => {
    for (const [subpath, file] of doors()) {
      expect(`${subpath} ${file.replace(/^.*\/(?=(?:plugins|src)\/)/, '')}`).toMatch(
        /^\.(?:\/[a-z-]+)? (?:plugins\/[a-z-]+|src|src\/[a-z-]+)\/index\.ts$/,
      )
    }
  })
})
