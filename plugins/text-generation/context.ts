import { backgroundOf } from '../shared/background/background.ts'
import type { GenerationOptions } from './call/generate.ts'
import { createProtocols, type Protocols } from './call/protocols.ts'
import { type ResponseRoutesOptions, retrieve } from './call/response-routes.ts'
import { TokenHistory } from './limits/history.ts'
import { createModelRouting } from './models/routing.ts'
import { createBackgroundUsageRecorder, pollBackgroundResponses } from './objects/background-responses.ts'
import { createObjectOwnership } from './objects/ownership.ts'
import { createStoredResponses } from './objects/stored/responses.ts'
import { createStoredResponseRoutes } from './objects/stored/routes.ts'
import type { TextSettings } from './options.ts'
import { createUpstreamClient } from './upstream/client.ts'
import { createDroppedTools } from './upstream/dropped-tools.ts'
import { createLearntCapabilities, createRejectedAdditions } from './upstream/learnt-capabilities.ts'
import { createCostOf } from './usage/prices.ts'
import { createUsageRecorder } from './usage/usage.ts'

/** What the routes of one plugin share. */
export interface TextContext extends GenerationOptions, ResponseRoutesOptions {
  readonly protocols: Protocols
}

/** Creates what the routes share, and starts the work in the background. */
export const createTextContext = (settings: TextSettings): TextContext => {
  const { objects: store, storedResponses, clock, log, audit } = settings
  const routing = createModelRouting(settings.upstreams)
  const costOf = settings.prices && createCostOf(settings.prices)
  const record = createUsageRecorder({
    ...{ usage: settings.usage, observe: settings.observeUsage, costOf, log },
    models: [...routing.named.keys(), ...Object.keys(settings.prices ?? {})],
  })
  const { limits, usualOutputTokens, defaultMaxTokens } = settings
  const history = limits && new TokenHistory(clock, usualOutputTokens)
  const recordBackground = store
    ? createBackgroundUsageRecorder({ store, record, costOf, history, clock, log })
    : async () => {}
  const storing = storedResponses && {
    store: storedResponses,
    ttlMs: settings.objectTtlMs,
    maxUserBytes: settings.maxStoredResponseBytes,
    maxRequestBytes: settings.maxBodyBytes,
    ...{ clock, log, audit },
  }
  const protocols = createProtocols({ ...settings, storesResponses: storing !== undefined })
  const context: TextContext = {
    ...settings,
    callLimits: limits && history && { ...{ limits, history, costOf, defaultMaxTokens, clock } },
    protocols,
    client: createUpstreamClient(settings),
    routing,
    rejectedAdditions: createRejectedAdditions({ clock }),
    learnt: createLearntCapabilities({ clock, log }),
    droppedTools: createDroppedTools(log),
    presetAssets: new Set(settings.presetAssets),
    store,
    objects: createObjectOwnership({
      ...{ store, clock, log },
      ttlMs: settings.objectTtlMs,
      allowedFields: settings.allowedFields ?? [],
      assets: settings.assets,
    }),
    storedResponses: storing && createStoredResponses(storing),
    respondStored: storing && createStoredResponseRoutes(storing),
    retrieval: protocols.retrieval,
    record,
    recordBackground,
  }
  const background = backgroundOf(settings.background)
  if (store && background) {
    pollBackgroundResponses(
      {
        ...{ clock, log, store, storedResponses, record, costOf, recordBackground },
        retrieve: (own, signal) => retrieve(own, signal, context),
      },
      background,
    )
  }
  return context
}
