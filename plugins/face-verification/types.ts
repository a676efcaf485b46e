import type { ErrorBody, UpstreamErrorBody } from '../shared/plugin/openapi.ts'
import type { Responses, Route } from '../shared/plugin/plugin.ts'

/** The response to a created verification. */
export interface CreatedVerification {
  readonly verification_id: string
  readonly status: string
  /** The address that the person opens on a phone. A secret, which only this response contains. */
  readonly h5_url: string
  /** Seconds since 1970. */
  readonly expires_at: number
}

/** The response to a query. */
export interface VerificationState {
  readonly verification_id: string
  readonly status: string
  /** The LivenessFace group, once the status is `verified`. */
  readonly group_id?: string
}

type FaceRoute<Success, Parts extends { body?: unknown; params?: unknown }> = Route<
  Responses<Success, ErrorBody | UpstreamErrorBody, 400 | 401 | 403 | 404 | 408 | 413 | 415 | 429 | 500 | 502 | 503>,
  Parts
>

/** The routes of `faceVerification` below its prefix, for Eden. */
export type FaceRoutes = {
  post: FaceRoute<CreatedVerification, { body: { readonly [field: string]: unknown } | undefined }>
  ':verification_id': { get: FaceRoute<VerificationState, { params: { verification_id: string } }> }
}
