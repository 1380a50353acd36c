# A machine for tests, without a cloud: its own network, processes, users and files on this machine.
# It obeys the interface of the real modules; see machine.sh.

variable "name" {
  type = string
}

variable "ends_at" {
  type = string
}

variable "user_data" {
  type      = string
  sensitive = true
}

locals {
  subnet  = "10.231.${parseint(substr(sha1(var.name), 0, 2), 16)}"
  machine = "${path.module}/machine.sh"
}

resource "terraform_data" "network" {
  input            = { name = var.name, machine = local.machine, subnet = local.subnet }
  triggers_replace = [var.name]

  provisioner "local-exec" {
    command     = "exec sh \"$MACHINE\" create-network"
    environment = { MACHINE = self.output.machine, NAME = self.output.name, SUBNET = self.output.subnet }
  }

  provisioner "local-exec" {
    when        = destroy
    command     = "exec sh \"$MACHINE\" destroy-network"
    environment = { MACHINE = self.output.machine, NAME = self.output.name, SUBNET = self.output.subnet }
  }
}

resource "terraform_data" "machine" {
  input            = { name = var.name, machine = local.machine }
  triggers_replace = [terraform_data.network.id]

  provisioner "local-exec" {
    command     = "exec sh \"$MACHINE\" create"
    environment = { MACHINE = self.output.machine, NAME = self.output.name, USER_DATA = var.user_data }
  }

  provisioner "local-exec" {
    when        = destroy
    command     = "exec sh \"$MACHINE\" destroy"
    environment = { MACHINE = self.output.machine, NAME = self.output.name }
  }
}

output "address" {
  value      = "${local.subnet}.2"
  depends_on = [terraform_data.machine]
}

output "user" {
  value = "bancada"
}

output "boot" {
  value = "A test machine on this one; it ends itself at ${var.ends_at}."
}
