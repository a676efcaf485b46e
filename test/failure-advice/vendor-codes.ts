/** Error codes of the vendor's pages, as a caller may see them. */
export const vendorCodes = {
  /** https://www.volcengine.com/docs/82379/1299023: create calls */
  calls: [
    ...['InvalidParameter', 'InvalidParameter.content', 'InvalidParameter.UnsupportedParameter', 'MissingParameter'],
    ...['MissingParameter.model', 'InvalidParameter.TaskTypeConstraint', 'InvalidParameter.TaskTypeMismatch'],
    ...['AuthenticationError', 'InvalidAccountStatus', 'AccountOverdueError', 'AccessDenied'],
    ...['OperationDenied.ServiceNotOpen', 'ModelNotOpen', 'InvalidEndpointOrModel.NotFound', 'NotFound.Task'],
    ...['RateLimitExceeded.EndpointRPMExceeded', 'RateLimitExceeded.EndpointTPMExceeded', 'AccountRateLimitExceeded'],
    ...['ModelAccountRpmRateLimitExceeded', 'ModelAccountTpmRateLimitExceeded', 'ModelAccountIpmRateLimitExceeded'],
    ...['APIAccountRpmRateLimitExceeded', 'QuotaExceeded', 'InflightBatchsizeExceeded', 'ServerOverloaded'],
    ...['RequestBurstTooFast', 'SetLimitExceeded', 'InternalServiceError', 'SubscriptionRequired'],
  ],
  /** Moderation of inputs and of outputs, alone and with details. */
  moderation: [
    ...['Text', 'Image', 'Video', 'Audio'].flatMap((kind) =>
      ['', '.PolicyViolation', '.PrivacyInformation'].map((detail) => `Input${kind}SensitiveContentDetected${detail}`),
    ),
    ...['Text', 'Image', 'Video', 'Audio'].flatMap((kind) =>
      ['', '.PolicyViolation'].map((detail) => `Output${kind}SensitiveContentDetected${detail}`),
    ),
    ...['RiskDetection', 'SensitiveContentDetected', 'ContentRestricted'],
  ],
  /** Of calls to the asset library. */
  library: [
    ...['MissingParameter.GroupId', 'InvalidParameter.PageSize', 'InvalidParameter.AssetID', 'NotFound.asset_id'],
    ...['NotFound.group_id', 'SignatureDoesNotMatch', 'InvalidAccessKeyId', 'ExpiredToken', 'InvalidSecretToken'],
    ...['Throttling', 'InvalidAction', 'QuotaSharedPoolExceeded', 'InvalidParameter.DurationTooLong'],
    ...['InvalidParameter.WidthTooSmall'],
  ],
  /** Of failed assets. */
  assets: [
    ...['DownloadFailed', 'TypeMismatch', 'FormatUnsupported', 'UnsupportedImageFormat', 'FormatUndetectable'],
    ...['DurationTooShort', 'DurationTooLong', 'WidthTooSmall', 'WidthTooLarge', 'HeightTooSmall', 'HeightTooLarge'],
    ...['AspectRatioTooSmall', 'AspectRatioTooLarge', 'FileSizeTooLarge', 'PixelCountTooSmall', 'PixelCountTooLarge'],
    ...['FpsTooLow', 'FpsTooHigh', 'AudioTrackRequired', 'AudioTrackForbidden', 'FaceMismatch', 'TranscodingFailed'],
    ...['InternalError'],
  ],
  /** How a task ends otherwise. */
  ends: ['expired', 'cancelled', 'consent_withdrawn', 'share_ended'],
} as const
