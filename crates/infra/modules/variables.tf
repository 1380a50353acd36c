# What every module for a rented machine is given. A module of your own declares the variables that
# it uses; values come from a private file of JSON, never from the command line.

variable "name" {
  description = "Name for everything that is created: lower-case letters, digits and hyphens, at most 42."
  type        = string
}

variable "machine_type" {
  description = "As the provider names it."
  type        = string
}

variable "region" {
  type = string
}

variable "spot" {
  description = "Whether the provider may take the machine back."
  type        = bool
}

variable "disk_gigabytes" {
  type = number
}

variable "image" {
  description = "The provider's name of a system image; null means Debian 12."
  type        = string
  default     = null
}

variable "time_limit_seconds" {
  description = "The machine ends itself when it has been on for so long."
  type        = number
}

variable "ends_at" {
  description = "The same as a moment, RFC 3339 in UTC. It stays the same when apply is repeated."
  type        = string
}

variable "ssh_public_key" {
  description = "Of the client, in OpenSSH's format."
  type        = string
}

variable "caller_cidr" {
  description = "The addresses that may connect by SSH; nobody else may connect at all."
  type        = string
}

variable "tags" {
  description = "Study and environment, in characters that every provider accepts."
  type        = map(string)
}

variable "user_data" {
  description = "A shell script for the first start, with the machine's own SSH host key."
  type        = string
  sensitive   = true
}
