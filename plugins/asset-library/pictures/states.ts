import { adviceFor } from '../../failure-advice/index.ts'
import { asJsonObject, parsedObject } from '../../shared/json/parsed.ts'
import type { PictureAsset } from '../../shared/media/picture-assets.ts'
import { errorDetails } from '../../shared/upstream/error-details.ts'
import type { UpstreamRejectedError, UpstreamResponse } from '../../upstream-proxy/index.ts'

/** The state of an asset, in the upstream's response about it. */
export const stateIn = (response: UpstreamResponse, asset: string): PictureAsset => {
  const { Status: status, Error: error } = asJsonObject(response.fields?.Result) ?? {}
  if (status === 'Active') return { state: 'active', asset }
  if (status !== 'Failed') return { state: 'processing', asset }
  return failedWith(asJsonObject(error))
}

/**
 * Whether a picture needs no other asset. It needs one when its asset is gone, or has failed for a reason that another
 * try may not meet.
 */
export const isUsable = (state: PictureAsset): boolean =>
  state.state === 'failed' ? !isTransient(state.code) : state.state !== 'busy'

const isTransient = (code: string): boolean => code === 'DownloadFailed' || adviceFor(code)?.retry === true

/** A rejected creation. A full library is final; any other 429 passes. */
export const rejectedPicture = ({ status, response }: UpstreamRejectedError): PictureAsset | undefined => {
  const error = asJsonObject(asJsonObject(parsedObject(response.bytes)?.ResponseMetadata)?.Error)
  const [detail] = error ? [] : errorDetails(response)
  const { code, message } = error ? namesOf(error) : { code: detail?.code, message: detail?.message }
  if (status === 429 && !code?.startsWith('Quota')) return { state: 'busy' }
  if (status >= 500) return undefined
  return failedWith({ Code: code, Message: message })
}

const failedWith = (error: Readonly<Record<string, unknown>> | undefined): PictureAsset => {
  const { code, message } = namesOf(error ?? {})
  return {
    ...{ state: 'failed', code: code || 'InternalError' },
    message: message || 'the picture could not be added to the asset library',
  }
}

const namesOf = ({ Code: code, Message: message }: Readonly<Record<string, unknown>>) => ({
  code: typeof code === 'string' ? code : undefined,
  message: typeof message === 'string' ? message : undefined,
})
