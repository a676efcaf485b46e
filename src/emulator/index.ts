import { createAccount } from './account.ts'
import { busiestSecond, type Call } from './calls.ts'
import type { Decision, FaceSession } from './face/sessions.ts'
import type { FaultHandle, Faults, FaultTiming } from './faults.ts'
import type { Library } from './library.ts'
import { REST_PATH } from './rest.ts'
import { serve } from './server.ts'
import { type EmulatorOptions, settingsOf } from './settings.ts'
import type { Script } from './text/faults.ts'
import type { ObjectStock } from './text/objects.ts'
import { TEXT_PATH } from './text/routes.ts'

export type { Call } from './calls.ts'
export type { FaceOptions } from './face/options.ts'
export type { Decision, FaceSession } from './face/sessions.ts'
export type { Fault, FaultHandle, FaultKind, Faults, FaultTiming } from './faults.ts'
export { HOSTILE_HEADERS } from './hostile-headers.ts'
export type { LeakForm, LeakPlace } from './leak.ts'
export type { Library, NewAsset, NewGroup } from './library.ts'
export { DOCUMENTED_LIMITS } from './limits.ts'
export { type Outcome, outcomeByUrl } from './processing-outcome.ts'
export type { Asset, AssetStatus, AssetType, Group, GroupType } from './records.ts'
export type { EmulatorOptions } from './settings.ts'
export type { TextModel } from './text/catalogue.ts'
export type { Script, ScriptChunk, TextFaultKind } from './text/faults.ts'
export type { ObjectStock, PlantedKind, StockEntry } from './text/objects.ts'
export type { TextOptions } from './text/options.ts'
export type { Times } from './times.ts'

/** A running emulator: one account, served in the rest and the ark shape, and text generation in two protocols. */
export interface Emulator {
  /** `http://127.0.0.1:PORT`; under `/_emulator/` it can be controlled from other languages */
  readonly origin: string
  /** base address, which ends with `/api/media/proxy`, and bearer key of the rest shape */
  readonly rest: { readonly url: string; readonly key: string }
  /** base address and credentials of the ark shape, and the project that the account works in */
  readonly ark: {
    readonly url: string
    readonly accessKey: string
    readonly secretKey: string
    readonly region: string
    readonly project: string
  }
  /** text generation: base address, which ends with `/v1`, and bearer key */
  readonly text: {
    readonly url: string
    readonly key: string
    /**
     * Answers the next call that generates (or those that the timing names) with these very bytes, or with those that a
     * function of the recorded call chooses; a fault of kind `script`.
     */
    answer(script: Script | ((call: Call) => Script), timing?: FaultTiming): FaultHandle
    /** the responses, conversations, items, files and the like that the account keeps */
    readonly objects: ObjectStock
  }
  /** face verification, without a browser. In both shapes somebody has yet to go to the callback address, as a browser would */
  readonly face: {
    /** every session since the start, oldest first, those of the rest shape too */
    sessions(): FaceSession[]
    /**
     * What the person does. The address that their browser goes to next; none after `close`, and none when the session has ended or expired
     * before, which changes nothing. Throws for a token that is unknown.
     */
    finish(bytedToken: string, decision: Decision): string | undefined
  }
  /** every request since the start or the last `clearCalls`, in order of arrival; grows until cleared */
  readonly calls: readonly Call[]
  /** ways to go wrong, switched on and off at any time */
  readonly faults: Faults
  /** what the account holds, to look at and to change from behind */
  readonly library: Library
  /** most calls of an action, accepted or refused, in any window of one second by the emulator's clock; 0 without calls */
  perSecond(action: string): number
  /** forgets the recorded calls, not what they did */
  clearCalls(): void
  /** closes the port and every connection, stalled ones too; calls that wait are given up without effect */
  stop(): Promise<void>
}

/**
 * Starts an emulated media asset upstream with Ark's rules: signature, fuzzy names, exclusive paging modes, depth limit,
 * rate limits, asynchronous processing, face verification with its page for browsers; and text generation of both protocols. Rejects when an option makes no sense or the port is taken.
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const settings = settingsOf(options)
  let origin = ''
  const account = createAccount(settings, () => origin)
  const { calls, faults, stop, ...served } = await serve(account)
  origin = served.origin
  const { accessKey, secretKey, region, project } = settings
  return {
    origin,
    rest: { url: `${origin}${REST_PATH}`, key: settings.key },
    ark: { url: origin, accessKey, secretKey, region, project },
    text: {
      url: `${origin}${TEXT_PATH}`,
      key: settings.text.key,
      objects: account.objects.stock,
      answer: (script, timing) => faults.add({ ...timing, kind: 'script', script }),
    },
    face: {
      sessions: account.faces.sessions.list,
      finish(bytedToken, decision) {
        const finish = account.faces.sessions.finish(bytedToken, decision)
        if (finish.came === 'unknown') throw new Error(`there is no face session ${bytedToken}`)
        return finish.came === 'callback' ? finish.url : undefined
      },
    },
    calls,
    faults,
    library: account.library,
    perSecond: (action) => busiestSecond(calls, action),
    clearCalls: () => {
      calls.length = 0
    },
    stop,
  }
}
